// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.arc.Arc;
import io.quarkus.arc.ArcContainer;
import io.quarkus.test.junit.callback.QuarkusTestBeforeEachCallback;
import io.quarkus.test.junit.callback.QuarkusTestMethodContext;
import io.weir.ratelimit.runtime.ApplicationLoader;
import io.weir.ratelimit.test.RateLimits;

/** Resets the limits of the test kit before each method of a {@code @QuarkusTest}, and before its {@code @BeforeEach} methods. */
public class LimitsReset implements QuarkusTestBeforeEachCallback {
    /** A test of a built application has no container, and an application without the test kit has no limits of it. */
    @Override
    public void beforeEach(QuarkusTestMethodContext context) {
        ArcContainer container = Arc.container();
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        if (container != null && ApplicationLoader.finds(loader, "io.weir.ratelimit.test.RateLimits")) {
            Kit.reset(container);
        }
    }

    /** Loaded only with the test kit. */
    private static final class Kit {
        private Kit() {}

        static void reset(ArcContainer container) {
            container.select(RateLimits.class).stream().forEach(RateLimits::resetAll);
        }
    }
}
