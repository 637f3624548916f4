// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.runtime.ApplicationLoader;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;

/** The access to the beans of an application, and the observer of its start. */
@ApplicationScoped
public class RateLimitBeans {
    @Inject
    private BeanManager beans;

    @Inject
    private Instance<Object> objects;

    /** Starts the reload of policies on a thread of the application. Objects of the server are found in JNDI only from now on. */
    void start(@Observes @Initialized(ApplicationScoped.class) Object event, RateLimitExtension extension) {
        extension.application().weir().start(ApplicationLoader.of(RateLimitExtension.class));
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
}
