// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.RedisConnection;
import jakarta.inject.Inject;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The Redis that starts for an application without an address. It needs Docker with an image of Redis. */
@EnabledIfSystemProperty(named = "weir.test.redis.image", matches = ".+")
class DevServicesTest {
    /** The build sets this property to false, so that the other tests start no Redis. */
    private static final String ENABLED = "quarkus.weir.devservices.enabled";

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withEmptyApplication()
            .setBeforeAllCustomizer(() -> System.setProperty(ENABLED, "true"))
            .setAfterAllCustomizer(() -> System.setProperty(ENABLED, "false"))
            .overrideConfigKey(
                    "quarkus.weir.devservices.image-name", System.getProperty("weir.test.redis.image", "redis"))
            .overrideConfigKey("ratelimit.redis.deadline", "30s")
            .overrideConfigKey("ratelimit.policies.api.limit", "5/1h")
            .overrideConfigKey("ratelimit.policies.api.key", "ip");

    @Inject
    RateLimiter limiter;

    @ConfigProperty(name = "ratelimit.redis.address")
    String address;

    @Test
    void theLimitIsInRedis() {
        assertThat(limiter.acquire("api", Identity.address("192.0.2.1")).allowed())
                .isTrue();
        try (RedisConnection connection = RedisConnection.to(address)) {
            assertThat(connection.text("DBSIZE")).isNotEqualTo("0");
        }
    }
}
