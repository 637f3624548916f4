// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.runtime.Platform;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * The executor of the container, whose tasks have the context of the application; the common pool if the server has none. The
 * executor is looked up at the first use, on a thread of the application. The threads of look-ups are found here as well.
 */
final class ContainerExecutor implements Supplier<Executor> {
    private volatile @Nullable Supplier<Executor> executor;

    @Override
    public Executor get() {
        Supplier<Executor> known = executor;
        if (known == null) {
            known = lookUp();
            executor = known;
        }
        return known.get();
    }

    @SuppressWarnings("BanJNDI") // a fixed name that the platform binds
    private static Supplier<Executor> lookUp() {
        try {
            ManagedExecutorService managed = InitialContext.doLookup("java:comp/DefaultManagedExecutorService");
            return () -> {
                // Captured on the calling thread, because the thread of the backend that submits a task has no context.
                Executor context = managed.getContextService().currentContextExecutor();
                return task -> managed.execute(() -> context.execute(task));
            };
        } catch (NamingException | LinkageError e) {
            MESSAGES.log("WEIR-002", e);
            return ForkJoinPool::commonPool;
        }
    }

    /**
     * Finds the threads of look-ups, which are their own, because on some servers the managed executor shares its threads with requests.
     * Without Jakarta Concurrency, they have no context but the class loader.
     */
    @SuppressWarnings("BanJNDI") // fixed names that the platform binds
    static Platform.Threads lookupThreads() {
        try {
            ThreadFactory factory = InitialContext.doLookup("java:comp/DefaultManagedThreadFactory");
            ManagedExecutorService managed = InitialContext.doLookup("java:comp/DefaultManagedExecutorService");
            return new Platform.Threads(
                    factory, () -> managed.getContextService().currentContextExecutor());
        } catch (NamingException | LinkageError e) {
            return Platform.Threads.DAEMONS;
        }
    }
}
