// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RateLimiter;

/** The engine of a test class. */
interface StartedEngine {
    /** Returns the clock and the backends. */
    TestEnvironment environment();

    /** Returns the limiter for application code. */
    RateLimiter limiter();

    /** Returns the state of the limits. */
    RateLimits limits();

    /**
     * Returns the REST runtime of the test class, which starts at the first call.
     *
     * @throws IllegalStateException if the engine runs in no container, or if the class path has no REST runtime
     */
    default RestRuntime rest() {
        throw new IllegalStateException("a RestRuntime needs weir-interceptor, weld-se-core, an implementation of"
                + " MicroProfile Config and a REST runtime on the class path of the test");
    }

    /** Injects the beans of the application into a test instance. */
    void inject(Object test);

    /** Returns the context class loader of the tests. */
    ClassLoader loader();

    /** Stops the engine. */
    void stop();
}
