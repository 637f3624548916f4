// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import jakarta.enterprise.concurrent.ManagedExecutorService;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * The container's executor, so that what completes there has the application's context; the common pool where the server has
 * none. Looked up at the first use, on a thread of the application.
 */
final class ContainerExecutor implements Supplier<Executor> {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private volatile @Nullable Supplier<Executor> found;

    @Override
    public Executor get() {
        Supplier<Executor> known = found;
        if (known == null) {
            known = lookUp();
            found = known;
        }
        return known.get();
    }

    @SuppressWarnings("BanJNDI") // a fixed name that the platform binds; nothing of a client's reaches it
    private static Supplier<Executor> lookUp() {
        try {
            ManagedExecutorService managed = InitialContext.doLookup("java:comp/DefaultManagedExecutorService");
            return () -> inContext(managed);
        } catch (NamingException | LinkageError e) {
            LOG.log(
                    Level.INFO,
                    "WEIR-002 no managed executor here ({0}); the common pool takes its place",
                    e.toString());
            return ForkJoinPool::commonPool;
        }
    }

    /** Takes the context of the calling thread along: a task comes from a thread of the store's, which has none to hand on. */
    private static Executor inContext(ManagedExecutorService managed) {
        Executor context = managed.getContextService().currentContextExecutor();
        return task -> managed.execute(() -> context.execute(task));
    }
}
