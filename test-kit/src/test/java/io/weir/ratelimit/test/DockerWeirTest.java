// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static io.weir.ratelimit.test.WeirAssertions.assertThat;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.RequiredTools;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The test kit starts an image in Docker. Only where Docker is required, since Testcontainers would pull a missing image. */
@Tag("redis")
@EnabledIf(value = "isDockerRequired", disabledReason = "weir.test.require does not contain docker")
class DockerWeirTest {
    @RegisterExtension
    static final WeirExtension WEIR = WeirExtension.builder()
            .policy("mail", "3/1h")
            .property("ratelimit.policies.mail.on-failure", "closed")
            .property("ratelimit.redis.deadline", "30s")
            .redis(System.getProperty("weir.test.redis.image", "redis:7.2-alpine"))
            .build();

    static boolean isDockerRequired() {
        return RequiredTools.contains("docker");
    }

    @RepeatedTest(2)
    void beginsWithoutState(RateLimiter limiter, RateLimits limits) {
        assertThat(limiter.acquire("mail", "a")).isAllowed().hasQuota("mail", 2);
        limits.exhaust("mail", "a");
        assertThat(limiter.acquire("mail", "a")).isRejectedBy("mail");
    }
}
