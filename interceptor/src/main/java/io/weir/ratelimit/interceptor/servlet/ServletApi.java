// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.servlet;

/** A test for the Servlet API, which not every REST runtime has. */
public final class ServletApi {
    private static final boolean VISIBLE = find();

    private ServletApi() {}

    /**
     * Returns whether the Servlet API is visible to the class loader of this library. The class loader of a thread can find classes that
     * this library does not.
     */
    public static boolean isVisible() {
        return VISIBLE;
    }

    private static boolean find() {
        try {
            Class.forName("jakarta.servlet.http.HttpServletRequest", false, ServletApi.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
