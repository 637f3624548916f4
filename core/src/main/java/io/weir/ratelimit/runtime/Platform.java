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
    /** Returns the sources of the configuration. */
    ConfigProperties.Sources properties();

    /** Returns the objects of the application of a type, such as listeners, sources of limits, backends and plug-ins, in a fixed order. */
    default <T> List<T> all(Class<T> type) {
        return List.of();
    }

    /** Returns the key resolvers or tier resolvers of the application by name, and reports problems of their names. */
    default <T> Map<String, T> named(Class<T> type, Problems problems) {
        return Map.of();
    }

    /** Returns the limited methods of the application, and reports problems of annotations. */
    default AnnotatedMethods methods(Problems problems) {
        return AnnotatedMethods.NONE;
    }

    /** Returns the observers of one type of events in the application, such as {@link RateLimitRejected}. */
    default <E> List<Consumer<E>> observers(Class<E> type) {
        return List.of();
    }

    /** Returns the listeners that measure and log with the name of the backend, and reports problems of the settings. */
    default Telemetry telemetry(Settings settings, String backend, KeyMasker masker, Problems problems) {
        return Telemetry.of(Optional.empty(), Telemetry.Spans.NONE, observers(RateLimitRejected.class), masker);
    }

    /** Checks what only the host knows. The problems are reported with all others. */
    default void check(Problems problems) {}

    /** Returns the clock, the random numbers and the backends in process. */
    default EngineEnvironment environment() {
        return EngineEnvironment.REAL;
    }

    /** Returns the executor of background tasks. The supplier is called on the thread that starts a task, or begins what can start one. */
    default Supplier<Executor> executor() {
        return ForkJoinPool::commonPool;
    }

    /** Returns the source of threads for look-ups of the application, which can hang. */
    default Threads lookupThreads() {
        return Threads.DAEMONS;
    }

    /** Returns whether calls have claims, so that a key can use them. */
    default boolean hasClaims() {
        return false;
    }

    /** Returns whether the host reads the forwarded header fields, so that the address of a peer is already that of the client. */
    default boolean hasForwardedPeers() {
        return false;
    }

    /** Returns the request that the current thread serves, if any. */
    default Optional<RequestState> currentRequest() {
        return Optional.empty();
    }

    /** Returns the names of the environment variables that can set properties. */
    default Set<String> environmentVariables() {
        return Set.of();
    }

    /** Learns that the limiter is closed, and releases what the host created for it. */
    default void closed() {}

    /** The source of threads for look-ups of the application, with an executor that runs a task in the context of the calling thread. */
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
