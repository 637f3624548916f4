// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What the surroundings of a {@link HostedWeir} provide. A host implements it. The defaults suit plain Java. */
public interface Platform {
    /**
     * Returns the sources of the configuration.
     *
     * @return the sources
     */
    ConfigProperties.Sources properties();

    /**
     * Returns the objects of the application that have a type, such as listeners, sources of limits, backends and plug-ins.
     *
     * @param type the type
     * @param <T> the type
     * @return the objects, in a fixed order
     */
    default <T> List<T> all(Class<T> type) {
        return List.of();
    }

    /**
     * Returns the key resolvers or tier resolvers of the application.
     *
     * @param type the type of the resolvers
     * @param problems receives problems of their names
     * @param <T> the type of the resolvers
     * @return the resolvers by name
     */
    default <T> Map<String, T> named(Class<T> type, Problems problems) {
        return Map.of();
    }

    /**
     * Returns the limited methods of the application.
     *
     * @param problems receives problems of annotations
     * @return the methods
     */
    default AnnotatedMethods methods(Problems problems) {
        return AnnotatedMethods.NONE;
    }

    /**
     * Returns the observers of one type of events in the application.
     *
     * @param type the type of the events, such as {@link RateLimitRejected}
     * @param <E> the type of the events
     * @return the observers
     */
    default <E> List<Consumer<E>> observers(Class<E> type) {
        return List.of();
    }

    /**
     * Returns the listeners that measure and log.
     *
     * @param settings the settings
     * @param backend the name of the backend
     * @param masker masks the keys
     * @param problems receives problems of the settings
     * @return the telemetry
     */
    default Telemetry telemetry(Settings settings, String backend, KeyMasker masker, Problems problems) {
        return Telemetry.of(Optional.empty(), Telemetry.Spans.NONE, observers(RateLimitRejected.class), masker);
    }

    /**
     * Checks what only the host knows. The problems are reported with all others.
     *
     * @param problems receives the problems
     */
    default void check(Problems problems) {}

    /**
     * Returns the clock, the random numbers and the backends in process.
     *
     * @return the environment
     */
    default EngineEnvironment environment() {
        return EngineEnvironment.REAL;
    }

    /**
     * Returns the executor of background tasks.
     *
     * @return a supplier that is called on the thread that starts a task, or begins what can start one
     */
    default Supplier<Executor> executor() {
        return ForkJoinPool::commonPool;
    }

    /**
     * Returns the source of threads for look-ups of the application, which can hang.
     *
     * @return the source
     */
    default Threads lookupThreads() {
        return Threads.DAEMONS;
    }

    /**
     * Returns whether calls have claims.
     *
     * @return true if a key can use claims
     */
    default boolean hasClaims() {
        return false;
    }

    /**
     * Returns whether the address of a peer is already that of the client behind a proxy.
     *
     * @return true if the host reads the forwarded header fields
     */
    default boolean hasForwardedPeers() {
        return false;
    }

    /**
     * Returns the request that the current thread serves.
     *
     * @return the request, empty if the thread serves none
     */
    default Optional<RequestState> currentRequest() {
        return Optional.empty();
    }

    /**
     * Returns the environment variables that can set properties.
     *
     * @return the names of the variables
     */
    default Set<String> environmentVariables() {
        return Set.of();
    }

    /** Learns that the limiter is closed, and releases what the host created for it. */
    default void closed() {}

    /**
     * The source of threads for look-ups of the application, which can hang.
     *
     * @param factory creates the threads
     * @param context returns an executor that runs a task in the context of the calling thread
     */
    record Threads(ThreadFactory factory, Supplier<Executor> context) {
        /** Threads of the platform that do not keep the process alive. They have no context but the class loader. */
        public static final Threads DAEMONS = new Threads(Threads::daemon, () -> Runnable::run);

        private static Thread daemon(Runnable task) {
            Thread thread = new Thread(task, "weir-look-up");
            thread.setDaemon(true);
            return thread;
        }
    }
}
