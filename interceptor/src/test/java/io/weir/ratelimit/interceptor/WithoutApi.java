// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/** A class loader with a second copy of the library and without one API. */
public final class WithoutApi extends ClassLoader {
    private final String hidden;

    /**
     * Creates a class loader.
     *
     * @param hidden the beginning of the names of the missing classes
     */
    public WithoutApi(String hidden) {
        super(WithoutApi.class.getClassLoader());
        this.hidden = hidden;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (name.startsWith(hidden)) {
            throw new ClassNotFoundException(name);
        }
        if (!name.startsWith("io.weir.")) {
            return super.loadClass(name, resolve);
        }
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
            return loaded;
        }
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            byte[] bytes = Objects.requireNonNull(in, name).readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
