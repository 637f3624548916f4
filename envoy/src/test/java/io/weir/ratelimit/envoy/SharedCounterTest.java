// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.runtime.Weir;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The server and an application spend from one counter. */
@Tag("redis")
@Timeout(180)
class SharedCounterTest {
    private final Map<String, String> properties = TestServer.onRedis(Map.of(
            "ratelimit.policies.api.limit", "3/1h",
            "ratelimit.policies.api.key", "principal",
            "ratelimit.policies.api.on-failure", "closed"));

    @Test
    void theEdgeAndTheApplicationShareAKey() throws Exception {
        try (TestServer edge = TestServer.of(properties);
                Weir application = Weir.builder().properties(properties).build()) {
            assertThat(acquired(application)).isTrue();
            assertThat(code(edge)).isEqualTo(Code.OK);
            assertThat(code(edge)).isEqualTo(Code.OK);
            assertThat(code(edge)).isEqualTo(Code.OVER_LIMIT);
            assertThat(acquired(application)).isFalse();
        }
    }

    private static Code code(TestServer edge) {
        return edge.call("edge", descriptor("policy", "api", "principal", "ann"))
                .getOverallCode();
    }

    private static boolean acquired(Weir application) {
        Decision decision = application.limiter().acquire("api", Identity.principal("ann"));
        return decision.allowed();
    }

    @Test
    @Tag("ci")
    void aFailureModeDecidesWithoutRedis() throws Exception {
        properties.put("ratelimit.redis.address", "redis://127.0.0.1:1");
        properties.put("ratelimit.redis.deadline", "100ms");
        properties.put("ratelimit.policies.free.limit", "3/1h");
        try (TestServer edge = TestServer.of(properties)) {
            assertThat(code(edge)).isEqualTo(Code.OVER_LIMIT);
            assertThat(edge.call("edge", descriptor("policy", "api"))
                            .getRawBody()
                            .toStringUtf8())
                    .contains("rate_limit_unavailable", "\"status\":429");
            assertThat(edge.call("edge", descriptor("policy", "free")).getOverallCode())
                    .isEqualTo(Code.OK);
        }
    }
}
