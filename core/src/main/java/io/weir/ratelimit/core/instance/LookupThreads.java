// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads for look-ups of the application, which can hang. The callers bound their number. They end when the application ends.
 */
public final class LookupThreads implements Supplier<Executor> {
    private static final long IDLE_SECONDS = 10;

    private final Supplier<Source> source;
    private final AtomicReference<@Nullable Pool> pool = new AtomicReference<>();
    private volatile boolean stopped;

    /**
     * The source of threads.
     *
     * @param factory creates the threads
     * @param context returns an executor that runs a task in the context of the calling thread
     */
    public record Source(ThreadFactory factory, Supplier<Executor> context) {
        /** Threads of the platform that do not keep the process alive. They have no context but the class loader. */
        public static final Source DAEMONS = new Source(Source::daemon, () -> Runnable::run);

        private static Thread daemon(Runnable task) {
            Thread thread = new Thread(task, "weir-look-up");
            thread.setDaemon(true);
            return thread;
        }
    }

    private record Pool(ThreadPoolExecutor threads, Supplier<Executor> context) {}

    /**
     * Creates threads at their first use.
     *
     * @param source returns the source of threads; called on a thread of the application
     */
    public LookupThreads(Supplier<Source> source) {
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

    private static Pool create(Source found) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), found.factory());
        return new Pool(threads, found.context());
    }

    /** Interrupts all look-ups. Later ones are rejected. */
    public void stop() {
        stopped = true;
        Pool known = pool.get();
        if (known != null) {
            known.threads().shutdownNow();
        }
    }
}
