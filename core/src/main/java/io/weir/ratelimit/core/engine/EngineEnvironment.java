// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.core.fallback.BackendHealth;
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

    /**
     * Returns the source of random numbers.
     *
     * @return a function that returns a number from 0 to below its argument
     */
    default IntUnaryOperator random() {
        return bound -> ThreadLocalRandom.current().nextInt(bound);
    }

    /** Returns the executor of calls that wait without a thread. */
    default Supplier<Executor> executor(Supplier<Executor> container) {
        return container;
    }

    /**
     * Returns the executor of look-ups of the application.
     *
     * @param threads the threads of look-ups
     */
    default Supplier<Executor> lookUps(Supplier<Executor> threads) {
        return threads;
    }

    /**
     * Returns whether clients of a deployment control this environment.
     *
     * @return true for the environment of a test kit in a deployment
     */
    default boolean isControlledByClients() {
        return false;
    }

    /** Accepts the health of the backend that the engine calls. */
    default void health(BackendHealth health) {}

    /**
     * Tests whether the backend in process replaces another one, whatever the configuration selects.
     *
     * @return true if the environment does not use it, so that its configuration is not checked
     */
    default boolean replaces(String backend) {
        return false;
    }

    /**
     * Creates a backend in process.
     *
     * @param maxKeys the maximum number of keys, 1 or more
     */
    default RateLimitBackend local(int maxKeys) {
        return new LocalBackend(maxKeys);
    }

    /**
     * Creates a backend in process that has the time of a clock.
     *
     * @param maxKeys the maximum number of keys, 1 or more
     */
    static RateLimitBackend local(int maxKeys, Sleeper clock) {
        return new LocalBackend(maxKeys, new LocalClock(clock::nanos, clock::epochMillis));
    }

    /**
     * Returns the backend that the engine calls.
     *
     * @param deadline the longest time of a call
     */
    default RateLimitBackend backend(RateLimitBackend selected, Duration deadline) {
        return selected;
    }
}
