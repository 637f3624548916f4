// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.runtime.Platform;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import java.util.concurrent.ThreadFactory;
import javax.naming.InitialContext;
import javax.naming.NamingException;

/**
 * The managed threads of the container. Look-ups have threads of their own, because on some servers the managed executor shares its threads
 * with requests. Without Jakarta Concurrency, threads have no context but the class loader.
 */
final class ContainerThreads {
    private ContainerThreads() {}

    @SuppressWarnings("BanJNDI") // fixed names that the platform binds
    static Platform.Threads find() {
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
