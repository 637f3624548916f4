// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import jakarta.enterprise.concurrent.ManagedExecutorService;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * The threads for look-ups of the application, which can hang. They are managed threads of their own, because on some servers the managed
 * executor shares its threads with requests. The callers bound their number. They end when the application ends.
 *
 * <p>Without Jakarta Concurrency, threads have no context but the class loader.
 */
final class LookupThreads implements Supplier<Executor> {
    private static final long IDLE_SECONDS = 10;

    private final AtomicReference<@Nullable Pool> pool = new AtomicReference<>();
    private volatile boolean stopped;

    /** A pool, and the source of the context of the calling thread. */
    private record Pool(ThreadPoolExecutor threads, Supplier<Executor> context) {}

    @Override
    public Executor get() {
        Pool known = pool.get();
        if (known == null) {
            pool.compareAndSet(null, lookUp()); // a pool without a task has no thread
            known = Objects.requireNonNull(pool.get());
            if (stopped) {
                known.threads().shutdownNow();
            }
        }
        Executor threads = known.threads();
        Executor context = known.context().get();
        return task -> threads.execute(() -> context.execute(task));
    }

    @SuppressWarnings("BanJNDI") // fixed names that the platform binds
    private static Pool lookUp() {
        try {
            ThreadFactory factory = InitialContext.doLookup("java:comp/DefaultManagedThreadFactory");
            ManagedExecutorService managed = InitialContext.doLookup("java:comp/DefaultManagedExecutorService");
            return new Pool(threads(factory), () -> managed.getContextService().currentContextExecutor());
        } catch (NamingException | LinkageError e) {
            return new Pool(threads(LookupThreads::daemon), () -> Runnable::run);
        }
    }

    private static ThreadPoolExecutor threads(ThreadFactory factory) {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), factory);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "weir-look-up");
        thread.setDaemon(true);
        return thread;
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
