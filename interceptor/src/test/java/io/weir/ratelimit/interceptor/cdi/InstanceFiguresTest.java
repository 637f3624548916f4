// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.events.KnownBlocks.Cause;
import io.weir.ratelimit.operations.Operations;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The running calls and the blocks that the operations of an instance list. */
class InstanceFiguresTest {
    private static final Identity ANN = Identity.principal("ann");

    @Test
    void listsTheRunningCallsOfPoliciesWithAConcurrencyLimit() {
        try (Container container = Container.start(new String[] {
            "ratelimit.policies.report.concurrency=5",
            "ratelimit.policies.report.key=principal",
            "ratelimit.policies.plan.limit=2/1h",
            "ratelimit.policies.plan.key=principal"
        })) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            Operations operations = container.bean(Operations.class);
            assertThat(operations.runningCalls()).containsOnlyKeys("report").containsEntry("report", 0);
            Decision running = limiter.acquire("report", ANN);
            Decision other = limiter.acquire("report", Identity.principal("ben"));
            assertThat(operations.runningCalls()).containsEntry("report", 2);
            limiter.release(running.receipt());
            limiter.release(other.receipt());
            assertThat(operations.runningCalls()).containsEntry("report", 0);
        }
    }

    @Test
    void listsPenaltiesAndBlocksUntilTheyEnd() {
        try (Container container = Container.start(new String[] {
            "ratelimit.policies.plan.limit=2/1h",
            "ratelimit.policies.plan.key=principal",
            "ratelimit.policies.plan.penalty.after=5/1m",
            "ratelimit.policies.plan.penalty.for=15m"
        })) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            Operations operations = container.bean(Operations.class);
            for (int call = 0; call < 7; call++) {
                limiter.acquire("plan", ANN);
            }
            assertThat(operations.blocks().list()).singleElement().satisfies(block -> {
                assertThat(block.cause()).isEqualTo(Cause.PENALTY);
                assertThat(block.penalty()).isOne();
                assertThat(block.rest()).isBetween(Duration.ofMinutes(14), Duration.ofMinutes(15));
            });
            CallerOperations.Caller caller = operations.caller("plan", ANN);
            operations.block(caller, Duration.ofHours(2));
            assertThat(operations.blocks().list())
                    .singleElement()
                    .satisfies(block -> assertThat(block.cause()).isEqualTo(Cause.OPERATOR));
            operations.unblock(caller);
            assertThat(operations.blocks().list())
                    .singleElement()
                    .satisfies(block -> assertThat(block.cause()).isEqualTo(Cause.ENDED));
            operations.block(caller, Duration.ofHours(2));
            operations.reset(caller);
            assertThat(operations.blocks().list())
                    .singleElement()
                    .satisfies(block -> assertThat(block.cause()).isEqualTo(Cause.ENDED));
        }
    }
}
