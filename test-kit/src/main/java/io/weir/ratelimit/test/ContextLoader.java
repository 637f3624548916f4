// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.util.function.Supplier;

/** The context class loader of a thread, by which the configuration and the container of a test class are found. */
final class ContextLoader {
    private ContextLoader() {}

    /** Calls a task with a context class loader. */
    static <T> T call(ClassLoader loader, Supplier<T> task) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            return task.get();
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
