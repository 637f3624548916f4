// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.opentest4j.TestAbortedException;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** The address of the Redis of a test. */
final class RedisAddress {
    private static final int PORT = 6379;

    /** The containers by image. They run until the JVM ends. */
    private static final Map<String, String> CONTAINERS = new ConcurrentHashMap<>();

    private RedisAddress() {}

    /**
     * Returns the address of a Redis, and starts a container for an image.
     *
     * @param redis an address with {@code ://}, otherwise the name of an image
     * @throws TestAbortedException if an image needs Docker, and Docker does not answer
     */
    static String of(String redis) {
        return of(redis, RedisAddress::isDockerAvailable);
    }

    static String of(String redis, BooleanSupplier docker) {
        return redis.contains("://") ? redis : inDocker(redis, docker);
    }

    private static boolean isDockerAvailable() {
        return Docker.isAvailable();
    }

    private static String inDocker(String image, BooleanSupplier docker) {
        if (!ClassPath.hasContainers()) {
            throw new IllegalStateException(
                    "the image " + image + " needs testcontainers on the class path of the test");
        }
        if (!docker.getAsBoolean()) {
            throw new TestAbortedException("Docker does not answer, so the tests on " + image + " are skipped");
        }
        return CONTAINERS.computeIfAbsent(image, Docker::start);
    }

    /** Loaded only if the class path has Testcontainers. */
    private static final class Docker {
        static boolean isAvailable() {
            return DockerClientFactory.instance().isDockerAvailable();
        }

        /** Testcontainers stops the container at the end of the JVM. */
        @SuppressWarnings("resource")
        static String start(String image) {
            GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image)).withExposedPorts(PORT);
            container.start();
            return "redis://" + container.getHost() + ":" + container.getMappedPort(PORT);
        }
    }
}
