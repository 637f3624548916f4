// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.CallerOperations.Caller;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.TopKeys;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The operations on callers as an application uses them, with the public API only. */
class CallerOperationsTest {
    private final Container container = Container.start(
            new String[] {
                "ratelimit.metrics=none",
                "ratelimit.policies.api.limit=2/1h",
                "ratelimit.policies.api.key=principal | ip",
                "ratelimit.policies.api.tier=header:X-Plan",
                "ratelimit.policies.api.tiers.gold.limit=5/1h"
            },
            Support.class);
    private final Support support = container.bean(Support.class);

    @ApplicationScoped
    public static class Support {
        @Inject
        RateLimiter limiter;

        @Inject
        CallerOperations operations;

        public void call(String user, int times) {
            for (int i = 0; i < times; i++) {
                limiter.acquire("api", Identity.principal(user));
            }
        }

        public List<TopKeys.Entry> rejected() {
            return limiter.topKeys("api").rejected();
        }

        public CallerOperations operations() {
            return operations;
        }

        public long remaining(Caller caller, String tier) {
            List<Quota> quotas = operations.peek(caller, tier);
            assertThat(quotas).hasSize(1);
            return quotas.get(0).remaining();
        }
    }

    @AfterEach
    void stop() {
        container.close();
    }

    @Test
    void resetsTheTopKeyByItsMaskedForm() {
        support.call("alice", 3);
        support.call("bob", 1);
        String key = support.rejected().get(0).key();
        Caller caller = support.operations().callerByMaskedKey("api", key);
        assertThat(caller.policy()).isEqualTo("api");
        assertThat(caller.key()).isEqualTo(key);
        assertThat(support.remaining(caller, "")).isZero();
        support.operations().reset(caller);
        assertThat(support.remaining(caller, "")).isEqualTo(2);
        assertThat(support.remaining(support.operations().caller("api", Identity.principal("bob")), ""))
                .isEqualTo(1);
    }

    @Test
    void identifiesACallerByTheValuesOfItsKey() {
        support.call("alice", 3);
        Caller caller = support.operations().caller("api", 0, List.of("alice"));
        assertThat(caller.key()).isEqualTo(support.rejected().get(0).key());
        assertThat(caller.toString()).contains(caller.key()).doesNotContain("alice");
        assertThat(support.remaining(caller, "gold")).isEqualTo(3);
    }

    @Test
    void rejectsACallerOfAnotherOrigin() {
        Caller foreign = new Caller() {
            @Override
            public String policy() {
                return "api";
            }

            @Override
            public String key() {
                return "all";
            }
        };
        assertThatThrownBy(() -> support.operations().peek(foreign, ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the caller was not returned by these operations");
        assertThatThrownBy(() -> support.operations().reset(foreign)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void rejectsUnknownPoliciesAndKeys() {
        assertThatThrownBy(() -> support.operations().caller("other", Identity.GLOBAL))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there is no policy \"other\"");
        assertThatThrownBy(() -> support.operations().callerByMaskedKey("api", "p.~abcdefghijklmnopqrstuv"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ratelimit.key-secret");
    }
}
