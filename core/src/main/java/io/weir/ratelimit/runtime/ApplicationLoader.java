// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The class loader that finds the configuration and the container of an application. WildFly deploys a WAR with the class loader of its EAR,
 * which does not see the classes and the configuration of the WAR.
 */
public final class ApplicationLoader {
    private ApplicationLoader() {}

    /** Returns the context class loader, or that of a library if the former does not see the library. */
    public static ClassLoader of(Class<?> library) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return sees(context, library) ? Objects.requireNonNull(context) : library.getClassLoader();
    }

    private static boolean sees(@Nullable ClassLoader context, Class<?> library) {
        try {
            Class.forName(library.getName(), false, context);
            return context != null;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Calls a task with the class loader of the application as context class loader. */
    public static <T> T call(Class<?> library, Supplier<T> task) {
        Thread thread = Thread.currentThread();
        ClassLoader context = thread.getContextClassLoader();
        thread.setContextClassLoader(of(library));
        try {
            return task.get();
        } finally {
            thread.setContextClassLoader(context);
        }
    }
}
