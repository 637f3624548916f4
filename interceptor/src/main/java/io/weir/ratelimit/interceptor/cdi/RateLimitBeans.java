// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.interceptor.operate.Operations;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;

/** What an application may inject. */
@ApplicationScoped
public class RateLimitBeans {
    @Inject
    private BeanManager beans;

    @Inject
    private Instance<Object> objects;

    /** Only now the server's objects can be found by their names. */
    void started(@Observes @Initialized(ApplicationScoped.class) Object event, RateLimitExtension deployment) {
        deployment.started();
    }

    /**
     * What a bean of this archive sees.
     *
     * @return the bean manager of this archive
     */
    public BeanManager visible() {
        return beans;
    }

    /**
     * The server's objects, as a bean of this archive would have them injected: producers may ask for the injection point, which
     * what is created by a bean manager does not have.
     *
     * @return objects by type
     */
    public Instance<Object> objects() {
        return objects;
    }

    /**
     * The limiter for code.
     *
     * @param deployment knows what was deployed
     * @return the limiter
     */
    @Produces
    @ApplicationScoped
    public RateLimiter limiter(RateLimitExtension deployment) {
        return deployment.runtime().limiter();
    }

    /**
     * What an operator can see of this instance and do about a caller.
     *
     * @param deployment knows what was deployed
     * @return the operations
     */
    @Produces
    @Dependent
    public Operations operations(RateLimitExtension deployment) {
        return deployment.runtime().operations();
    }
}
