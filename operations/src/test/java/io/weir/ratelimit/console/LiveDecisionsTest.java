// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The counting of decisions, depending on the access settings. */
class LiveDecisionsTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1))));
    private static final DecisionEvent DECISION = new DecisionEvent(
            "Api.get",
            List.of(new Charge(API, "i.1", 1)),
            new Decision.Allowed(
                    Results.of(TestQuota.of("api", "api", 10, 10, Duration.ofMinutes(1), 9, false, 0, 0, 0)),
                    Receipt.EMPTY),
            1);

    private final FakeOperations operations = new FakeOperations();
    private final AtomicInteger lookups = new AtomicInteger();
    private final LiveDecisions decisions = new LiveDecisions(() -> {
        lookups.incrementAndGet();
        return operations;
    });

    @Test
    void readsTheAccessSettingsAtTheFirstDecision() {
        assertThat(lookups).hasValue(0);
    }

    @Test
    void countsNothingIfTheConsoleIsDisabled() {
        operations.access = new Access(false, Optional.empty(), false);
        decisions.onDecision(DECISION);
        decisions.onBypass("Api.get", List.of(API));
        assertThat(decisions.rates()).isEmpty();
        assertThat(lookups).hasValue(1);
    }

    @Test
    void countsDecisionsIfTheConsoleIsEnabled() {
        decisions.onDecision(DECISION);
        LiveRates first = decisions.rates().orElseThrow();
        decisions.onDecision(DECISION);
        assertThat(decisions.rates()).containsSame(first);
        assertThat(lookups).hasValue(1);
    }

    @Test
    void listsTheKeysWhoseBlockRejectsCalls() {
        Quota blocked = TestQuota.of(
                "api",
                "api",
                10,
                10,
                Duration.ofMinutes(1),
                0,
                true,
                60_000_000,
                60_000_000,
                60_000_000,
                null,
                60_000_000);
        Quota full = TestQuota.of("api", "api", 10, 10, Duration.ofMinutes(1), 0, true, 1, 1, 1);
        decisions.onDecision(rejected("i.blocked", blocked));
        decisions.onDecision(rejected("i.full", full));
        assertThat(operations.blocks.list()).singleElement().satisfies(block -> {
            assertThat(block.policy()).isEqualTo("api");
            assertThat(block.storedKey()).isEqualTo("i.blocked");
            assertThat(block.cause()).isEqualTo(KnownBlocks.Cause.UNKNOWN);
            assertThat(block.rest()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(60));
        });
    }

    private static DecisionEvent rejected(String key, Quota quota) {
        return new DecisionEvent(
                "Api.get", List.of(new Charge(API, key, 1)), new Decision.Rejected(Results.of(quota)), 1);
    }
}
