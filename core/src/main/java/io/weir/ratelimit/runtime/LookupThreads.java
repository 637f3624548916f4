// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads for look-ups of the application, which can hang. The callers bound their number. They end when the application ends.
 */
final class LookupThreads implements Supplier<Executor> {
    private static final long IDLE_SECONDS = 10;

    private final Supplier<Platform.Threads> source;
    private final AtomicReference<@Nullable Pool> pool = new AtomicReference<>();
    private volatile boolean stopped;

    private record Pool(ThreadPoolExecutor threads, Supplier<Executor> context) {}

    /** Creates threads at their first use, on a thread of the application. */
    LookupThreads(Supplier<Platform.Threads> source) {
        this.source = source;
    }

    @Override
    public Executor get() {
        Pool known = pool.get();
        if (known == null) {
            pool.compareAndSet(null, create(source.get())); // a pool without a task has no thread
            known = Objects.requireNonNull(pool.get());
            if (stopped) {
                known.threads().shutdownNow();
            }
        }
        Executor threads = known.threads();
        Executor context = known.context().get();
        return task -> threads.execute(() -> context.execute(task));
    }

    private static Pool create(Platform.Threads found) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), found.factory());
        return new Pool(threads, found.context());
    }

    /** Interrupts all look-ups. Later ones are rejected. */
    void stop() {
        stopped = true;
        Pool known = pool.get();
        if (known != null) {
            known.threads().shutdownNow();
        }
    }
}
