// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.local.LocalClock;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * The clock, the random numbers, the threads and the backends of an engine. The defaults are those of an application; a test kit
 * replaces them.
 */
public interface EngineEnvironment {
    /** The environment of an application. */
    EngineEnvironment REAL = new EngineEnvironment() {};

    /** Returns the clock, and the timer of calls that wait for permits. */
    default Sleeper clock() {
        return Sleeper.REAL;
    }

    /** Returns the timer of repeated tasks. */
    default Sleeper tasks() {
        return clock();
    }

    /** Returns the source of random numbers from 0 to below its argument. */
    default IntUnaryOperator random() {
        return bound -> ThreadLocalRandom.current().nextInt(bound);
    }

    /** Returns the executor of calls that wait without a thread. */
    default Supplier<Executor> executor(Supplier<Executor> container) {
        return container;
    }

    /** Returns the executor of look-ups of the application, on the threads of look-ups. */
    default Supplier<Executor> lookUps(Supplier<Executor> threads) {
        return threads;
    }

    /** Returns whether clients of a deployment control this environment, as those of a test kit do. */
    default boolean isControlledByClients() {
        return false;
    }

    /** Accepts what ends an outage and what forgets the reported shares, for a backend that begins anew, as between two tests. */
    default void resets(Runnable outage, Runnable shares) {}

    /**
     * Tests whether the backend in process replaces another one, whatever the configuration selects. The configuration of the other one is
     * not checked.
     */
    default boolean replaces(String backend) {
        return false;
    }

    /** Creates a backend in process for one key or more. */
    default RateLimitBackend local(int maxKeys) {
        return new LocalBackend(maxKeys);
    }

    /** Creates a backend in process for one key or more, with the time of a clock. */
    static RateLimitBackend local(int maxKeys, Sleeper clock) {
        return new LocalBackend(maxKeys, new LocalClock(clock::nanos, clock::epochMillis));
    }

    /** Returns the backend that the engine calls, given the longest time of a call. */
    default RateLimitBackend backend(RateLimitBackend selected, Duration deadline) {
        return selected;
    }
}
