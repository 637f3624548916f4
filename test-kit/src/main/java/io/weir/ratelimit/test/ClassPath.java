// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.runtime.ApplicationLoader;
import java.util.stream.Stream;

/** The optional libraries on the class path of a test. */
final class ClassPath {
    private ClassPath() {}

    /** Tests whether the class path has MicroProfile Config, and the module that reads limits from it. */
    static boolean hasConfig() {
        return has(
                "io.weir.ratelimit.interceptor.cdi.RateLimitExtension",
                "org.eclipse.microprofile.config.spi.ConfigProviderResolver");
    }

    /** Tests whether the class path has a CDI container for Java SE. */
    static boolean hasContainer() {
        return has("jakarta.enterprise.inject.se.SeContainerInitializer", "org.jboss.weld.environment.se.Weld");
    }

    /** Tests whether the class path has the Redis backend. */
    static boolean hasRedis() {
        return has("io.weir.ratelimit.redisson.RedissonBackend", "org.redisson.Redisson");
    }

    /** Tests whether the class path has Testcontainers. */
    static boolean hasContainers() {
        return has("org.testcontainers.containers.GenericContainer");
    }

    /** Tests whether the class path has all of these classes. */
    static boolean has(String... types) {
        return Stream.of(types).allMatch(type -> ApplicationLoader.finds(ClassPath.class.getClassLoader(), type));
    }
}
