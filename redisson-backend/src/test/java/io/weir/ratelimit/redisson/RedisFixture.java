// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.util.Optional;

/**
 * The Redis that tests share, found when the first of them asks. In this order, and said on standard output:
 *
 * <ol>
 *   <li>{@code -Dweir.test.redis=redis://host:port}, a running one that nobody else uses meanwhile
 *   <li>Docker, if it answers at once and has the image {@code -Dweir.test.redis.image} (default {@code redis:7.2-alpine});
 *       images are never pulled
 *   <li>the binary that a test dependency carries
 * </ol>
 *
 * <p>{@code docker} among the {@linkplain Required required} tools makes a failure of what would be passed over.
 */
public final class RedisFixture {
    private final String address;

    private RedisFixture(String address) {
        this.address = address;
    }

    /** The shared Redis. */
    public static RedisFixture shared() {
        return Shared.FIXTURE;
    }

    /** The address as configuration writes it. */
    public String address() {
        return address;
    }

    /** A connection to look inside. */
    public RedisConnection connect() {
        return RedisConnection.to(address);
    }

    private static RedisFixture find() {
        String named = System.getProperty("weir.test.redis");
        if (named != null) {
            return said("-Dweir.test.redis", named);
        }
        String image = System.getProperty("weir.test.redis.image", "redis:7.2-alpine");
        String missing;
        try {
            Optional<String> known = DockerRedis.missing(image);
            if (known.isEmpty()) {
                return said("the image " + image + " in Docker", DockerRedis.started(image));
            }
            missing = known.get();
        } catch (IllegalStateException e) {
            missing = String.valueOf(e.getMessage());
        }
        if (Required.tool("docker")) {
            throw new AssertionError("docker is required, but " + missing);
        }
        return said(
                "the binary of embedded-redis (" + missing + ")",
                RedisProcess.started().address());
    }

    private static RedisFixture said(String what, String address) {
        RedisFixture fixture = new RedisFixture(address);
        try (RedisConnection connection = fixture.connect()) {
            String version = connection.text("INFO", "server").replaceAll("(?s).*redis_version:([^\r\n]*).*", "$1");
            System.out.printf("Redis for tests: %s, version %s%n", what, version);
        }
        return fixture;
    }

    private static final class Shared {
        static final RedisFixture FIXTURE = find();
    }
}
