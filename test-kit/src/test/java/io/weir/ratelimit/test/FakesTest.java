// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static io.weir.ratelimit.test.QuotaBuilder.quota;
import static io.weir.ratelimit.test.WeirAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.test.FakeRateLimiter.Call;
import io.weir.ratelimit.test.FakeRateLimiter.Operation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class FakesTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void allowsAll() {
        assertThat(FakeRateLimiter.allowAll().acquire("mail", "a")).isAllowed();
    }

    @Test
    void rejectsAllByThePolicyOfTheCall() {
        FakeRateLimiter limiter = FakeRateLimiter.rejectAll(MINUTE);
        assertThat(limiter.acquire("mail", "a")).isRejectedBy("mail").retryAfter(MINUTE);
        assertThat(limiter.acquireAsync("sms", "a").toCompletableFuture().join())
                .isRejectedBy("sms");
    }

    @Test
    void returnsTheDecisionsOfAScriptAndRepeatsTheLast() {
        FakeRateLimiter limiter = FakeRateLimiter.script(
                Decisions.allowed(), Decisions.rejectedBy("mail", MINUTE), Decisions.degradedOpen("timeout"));
        assertThat(limiter.acquire("mail", "a")).isAllowed();
        assertThat(limiter.acquire("mail", "a")).isRejected();
        assertThat(limiter.acquire("mail", "a")).isAllowed().hasReason("timeout");
        assertThat(limiter.acquire("mail", "a")).isAllowed().hasReason("timeout");
    }

    @Test
    void recordsCalls() {
        FakeRateLimiter limiter = FakeRateLimiter.allowAll();
        limiter.acquire("mail", "a", 3);
        limiter.peek("mail", "a");
        limiter.peek("mail");
        limiter.refund("mail", "a", 2);
        limiter.refund(Receipt.EMPTY);
        limiter.settle(Receipt.EMPTY, 7);
        limiter.reset("mail", "a");
        Identity a = Identity.of("a");
        assertThat(limiter.calls())
                .containsExactly(
                        new Call(Operation.ACQUIRE, "mail", a, 3),
                        new Call(Operation.PEEK, "mail", a, 1),
                        new Call(Operation.PEEK, "mail", Identity.GLOBAL, 1),
                        new Call(Operation.REFUND, "mail", a, 2),
                        new Call(Operation.REFUND, "", Identity.GLOBAL, 1),
                        new Call(Operation.SETTLE, "", Identity.GLOBAL, 7),
                        new Call(Operation.RESET, "mail", a, 1));
        assertThat(limiter.acquisitions()).hasSize(1);
    }

    @Test
    void rejectsACostBelowOneAsTheEngineDoes() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FakeRateLimiter.allowAll().acquire("mail", "a", 0));
    }

    @Test
    void recordsSettlements() {
        FakeRequestCharges charges = new FakeRequestCharges();
        charges.settle("tokens", 700);
        charges.capture().settleAsync("tokens", 0).toCompletableFuture().join();
        assertThat(charges.settlements())
                .containsExactly(
                        new FakeRequestCharges.Settlement("tokens", 700),
                        new FakeRequestCharges.Settlement("tokens", 0));
        assertThatIllegalArgumentException().isThrownBy(() -> charges.settle("tokens", -1));
    }

    @Test
    void recordsOperationsOnCallers() {
        FakeCallerOperations operations =
                new FakeCallerOperations(quota("api").limit(5, MINUTE).build());
        assertThat(operations.peek(operations.caller("api", 0, List.of("ann", "192.0.2.1")), ""))
                .hasSize(1);
        assertThat(operations.block(operations.callerByMaskedKey("api", " p.4f "), MINUTE))
                .isEqualTo(MINUTE);
        operations.unblock(operations.callerByMaskedKey("api", "p.4f"));
        operations.reset(operations.caller("api", Identity.of("ann")));
        assertThat(operations.calls())
                .containsExactly(
                        new FakeCallerOperations.Call("peek", "api", "ann + 192.0.2.1"),
                        new FakeCallerOperations.Call("block", "api", "p.4f"),
                        new FakeCallerOperations.Call("unblock", "api", "p.4f"),
                        new FakeCallerOperations.Call(
                                "reset", "api", Identity.of("ann").toString()));
    }

    @Test
    void buildsQuotas() {
        Quota untouched = quota("api").limit(5, MINUTE).build();
        assertThat(untouched).isEqualTo(TestQuota.of("api", "api", 5, 5, MINUTE, 5, false, 0, 0, 0));
        Quota spent = quota("api")
                .name("api-1m")
                .limit(5, MINUTE)
                .capacity(8)
                .remaining(2)
                .build();
        assertThat(spent).isEqualTo(TestQuota.of("api", "api-1m", 5, 8, MINUTE, 2, false, 0, 60_000_000, 60_000_000));
        Quota rejected = quota("api")
                .limit(5, MINUTE)
                .rejectedFor(Duration.ofSeconds(90))
                .build();
        assertThat(rejected)
                .isEqualTo(TestQuota.of("api", "api", 5, 5, MINUTE, 0, true, 90_000_000, 90_000_000, 90_000_000));
        Quota never = quota("api").limit(5, MINUTE).rejectedForEver().build();
        assertThat(Decisions.rejected(never)).isRejectedBy("api").neverAllowsRetry();
    }

    @Test
    void buildsExceptions() {
        assertThat(Decisions.exceeded("api", MINUTE).decision())
                .isRejectedBy("api")
                .retryAfter(MINUTE);
        assertThat(Decisions.unavailable(MINUTE).reason()).isEqualTo("breaker-open");
        assertThat(Decisions.unavailable(Duration.ZERO).reason()).isEqualTo("connection");
    }
}
