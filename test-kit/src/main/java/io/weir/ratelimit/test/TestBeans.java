// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.engine.EngineEnvironment;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.AfterBeanDiscovery;
import jakarta.enterprise.inject.spi.Extension;

/** The beans that the kit adds to a container. */
class TestBeans implements Extension {
    private final TestEnvironment environment;
    private final RateLimits limits;

    TestBeans(TestEnvironment environment, RateLimits limits) {
        this.environment = environment;
        this.limits = limits;
    }

    void add(@Observes AfterBeanDiscovery event) {
        event.addBean()
                .types(EngineEnvironment.class)
                .scope(ApplicationScoped.class)
                .createWith(context -> environment);
        event.addBean()
                .types(RateLimitClock.class)
                .scope(ApplicationScoped.class)
                .createWith(context -> environment.clock());
        event.addBean().types(RateLimits.class).scope(ApplicationScoped.class).createWith(context -> limits);
        RecordedEvents.TYPES.forEach(type -> event.addObserverMethod()
                .observedType(type)
                .notifyWith(context -> environment.events().add(context.getEvent())));
    }
}
