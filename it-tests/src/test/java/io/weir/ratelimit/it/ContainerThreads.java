// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import javax.naming.InitialContext;
import javax.naming.NamingException;

/** The threads of a test application. */
public final class ContainerThreads {
    private ContainerThreads() {}

    /** Returns the managed executor of a server; Quarkus has none in JNDI. */
    @SuppressWarnings("BanJNDI") // a fixed name that the platform binds
    public static ExecutorService executor() {
        try {
            return InitialContext.doLookup("java:comp/DefaultManagedExecutorService");
        } catch (NamingException e) {
            return ForkJoinPool.commonPool();
        }
    }
}
