// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import jakarta.inject.Inject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.logging.Level;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Without Docker, an application without an address counts in process, and nothing warns. */
@DisabledIf("hasDocker")
class WithoutDockerTest {
    /** The build sets this property to false, so that the other tests start no Redis. */
    private static final String ENABLED = "quarkus.weir.devservices.enabled";

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withEmptyApplication()
            .setBeforeAllCustomizer(() -> System.setProperty(ENABLED, "true"))
            .setAfterAllCustomizer(() -> System.setProperty(ENABLED, "false"))
            .overrideConfigKey("quarkus.weir.devservices.image-name", "weir.invalid/redis")
            .overrideConfigKey("ratelimit.policies.api.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.api.key", "ip")
            .setLogRecordPredicate(line -> line.getLevel().intValue() >= Level.WARNING.intValue()
                    && line.getLoggerName().contains("weir"))
            .assertLogRecords(lines -> assertThat(lines).isEmpty());

    @Inject
    RateLimiter limiter;

    @ConfigProperty(name = "ratelimit.redis.address")
    Optional<String> address;

    static boolean hasDocker() {
        return System.getenv("DOCKER_HOST") != null || Files.exists(Path.of("/var/run/docker.sock"));
    }

    @Test
    void theLimitIsInProcess() {
        assertThat(address).isEmpty();
        assertThat(limiter.acquire("api", Identity.address("192.0.2.1")).allowed())
                .isTrue();
        assertThat(limiter.acquire("api", Identity.address("192.0.2.1")).allowed())
                .isFalse();
    }
}
