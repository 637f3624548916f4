// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.RequestCharges;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.runtime.HostedWeir;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;

/** The beans that an application can inject. */
@ApplicationScoped
public class RateLimitBeans {
    @Inject
    private BeanManager beans;

    @Inject
    private Instance<Object> objects;

    /** Starts the application. Objects of the server are found in JNDI only from now on. */
    void start(@Observes @Initialized(ApplicationScoped.class) Object event, RateLimitExtension extension) {
        extension.start();
    }

    /** Returns the bean manager of this archive. */
    public BeanManager visible() {
        return beans;
    }

    /**
     * Returns the objects that a bean of this archive can inject. A bean manager does not find all of them, because a producer can
     * need an injection point.
     */
    public Instance<Object> objects() {
        return objects;
    }

    /** Produces the limiter for application code. */
    @Produces
    @ApplicationScoped
    public RateLimiter limiter(RateLimitExtension extension) {
        return extension.application().limiter();
    }

    /** Produces the charges of the current request for application code. */
    @Produces
    @ApplicationScoped
    public RequestCharges charges(RateLimitExtension extension) {
        return extension.application().gate().charges();
    }

    /** Produces the limiter of this application, for plug-ins. */
    @Produces
    @Dependent
    public HostedWeir weir(RateLimitExtension extension) {
        return extension.application().weir();
    }

    /** Produces the operations on callers for application code. */
    @Produces
    @Dependent
    public CallerOperations callers(RateLimitExtension extension) {
        return extension.application().weir().callers();
    }

    /** Produces the limit of logins on paths of Weir. */
    @Produces
    @Dependent
    public CallerQuotas.Logins logins(RateLimitExtension extension) {
        return extension.application().quotas().logins();
    }
}
