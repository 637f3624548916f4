// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.fixtures.TestCall;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The policies of the quota resource in an application with REST clients. */
class CallerQuotasOfClientsTest {
    private static Set<String> shown(String... lines) {
        try (Container container = Container.start(lines, Orders.class)) {
            return container
                    .application()
                    .weir()
                    .quotas()
                    .of(TestCall.fromAddress("203.0.113.7"))
                    .keySet();
        }
    }

    @Test
    void leavesOutPoliciesThatOnlyClientsHave() {
        assertThat(shown(
                        "ratelimit.policies.calls.limit=50/1m",
                        "ratelimit.policies.both.limit=10/1m",
                        "ratelimit.policies.code.limit=10/1m",
                        "ratelimit.clients.partner.policy=calls,both"))
                .containsExactlyInAnyOrder("both", "code");
    }

    @Test
    void showsPoliciesOfClientsThatPathRulesApply() {
        assertThat(shown(
                        "ratelimit.policies.calls.limit=50/1m",
                        "ratelimit.policies.calls.paths=/orders/*",
                        "ratelimit.policies.both.limit=10/1m",
                        "ratelimit.clients.partner.policy=calls,both"))
                .containsExactlyInAnyOrder("both", "calls");
    }

    @ApplicationScoped
    public static class Orders {
        @RateLimit("both")
        public void find() {}
    }
}
