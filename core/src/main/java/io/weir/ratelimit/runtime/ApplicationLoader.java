// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import java.util.function.Supplier;

/**
 * The class loader that finds the configuration and the container of an application. WildFly deploys a WAR with the class loader of its EAR,
 * which does not see the classes and the configuration of the WAR.
 */
public final class ApplicationLoader {
    private ApplicationLoader() {}

    /** Returns the context class loader, or that of a library if the former does not see the library. */
    public static ClassLoader of(Class<?> library) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context != null && finds(context, library.getName()) ? context : library.getClassLoader();
    }

    /** Tests whether a class loader finds a class. */
    public static boolean finds(ClassLoader loader, String type) {
        try {
            Class.forName(type, false, loader);
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
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
