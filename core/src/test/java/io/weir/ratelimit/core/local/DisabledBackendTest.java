// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import org.junit.jupiter.api.Test;

class DisabledBackendTest {
    private static final Policy POLICY = policy("api", "ip");
    private static final Charge CHARGE = new Charge(POLICY.limits(), "p.alice", 1_000_000);

    private final DisabledBackend backend = new DisabledBackend();

    @Test
    void allowsEveryCallAndCountsNothing() {
        for (int i = 0; i < 1_000; i++) {
            assertThat(backend.acquire(List.of(CHARGE))).isSameAs(Decision.Allowed.UNLIMITED);
        }
        assertThat(backend.acquireAsync(List.of(CHARGE)).toCompletableFuture())
                .isCompletedWithValue(Decision.Allowed.UNLIMITED);
        backend.refund(CHARGE).toCompletableFuture().join();
        backend.refund(Receipt.EMPTY).toCompletableFuture().join();
        backend.reset(List.of(POLICY.limits()), "p.alice");
        Charge affordable = new Charge(POLICY.limits(), "p.alice", 1);
        assertThat(backend.peek(List.of(affordable))).singleElement().satisfies(quota -> {
            assertThat(quota.policy()).isEqualTo("api");
            assertThat(quota.remaining()).isEqualTo(100);
            assertThat(quota.rejected()).isFalse();
        });
        assertThat(backend.peek(List.of(CHARGE))).extracting(Quota::remaining).containsExactly(100L);
    }

    @Test
    void isNeverConfigured() {
        assertThat(backend.name()).isEqualTo("off");
        assertThat(backend.isConfigured()).isFalse();
        assertThat(backend.validateConfiguration()).isEmpty();
    }
}
