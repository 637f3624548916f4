// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.runtime.Weir;
import io.weir.ratelimit.runtime.WeirBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

/** The backend in plain Java: the provided one, and one on a client of the program. */
@Tag("redis")
@Timeout(60)
class PlainJavaBackendTest {
    private final String namespace = "plain-" + UUID.randomUUID();

    private static WeirBuilder builder() {
        return Weir.builder()
                .property("ratelimit.policies.api.limit", "2/1h")
                .property("ratelimit.policies.api.on-failure", "closed")
                .property("ratelimit.redis.deadline", "10s");
    }

    private static List<Boolean> calls(RateLimiter limiter) {
        List<Boolean> allowed = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            allowed.add(limiter.acquire("api", "alice").allowed());
        }
        return allowed;
    }

    @Test
    void theProvidedBackendCountsInTheConfiguredRedis() {
        WeirBuilder builder = builder()
                .property("ratelimit.redis.address", RedisFixture.shared().address())
                .property("ratelimit.namespace", namespace);
        try (Weir one = builder.build();
                Weir other = builder.build()) {
            assertThat(calls(one.limiter())).containsExactly(true, true, false);
            assertThat(calls(other.limiter())).containsExactly(false, false, false);
        }
    }

    @Test
    void aBackendOfTheProgramReplacesTheProvidedOne() {
        RedissonClient client = ChildJvm.client(RedisFixture.shared().address());
        try (RedissonBackend backend = new RedissonBackend(client, namespace, Duration.ofSeconds(10));
                Weir weir = builder().backend(backend).build()) {
            assertThat(calls(weir.limiter())).containsExactly(true, true, false);
            weir.close();
            assertThat(backend.status().initialized()).isTrue();
            assertThat(client.isShutdown()).isFalse();
        } finally {
            client.shutdown();
        }
    }
}
