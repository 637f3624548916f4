// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.SettlesCharges;
import io.weir.ratelimit.tck.ManualTime;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The engine calls the backend without a monitor, because a virtual thread before JDK 24 blocks its carrier in a monitor. */
class MonitorTest {
    private static final TestCall ALICE = TestCall.byPrincipal("alice");

    private final ManualSleeper sleeper = new ManualSleeper(new ManualTime());
    private final ObservedBackend backend = new ObservedBackend();
    private final RateLimitEngine engine = engine(backend, sleeper);

    /** A local backend that records the monitors of its callers. */
    private static final class ObservedBackend implements RateLimitBackend, SettlesCharges, HoldsSlots, BlocksKeys {
        private final LocalBackend local = new LocalBackend(10);
        private final List<String> operations = new ArrayList<>();
        private final List<String> monitors = new ArrayList<>();

        private void record(String operation) {
            operations.add(operation);
            long[] caller = {Thread.currentThread().getId()};
            Stream.of(ManagementFactory.getThreadMXBean()
                            .getThreadInfo(caller, true, false)[0]
                            .getLockedMonitors())
                    .map(LockInfo::getClassName)
                    .forEach(monitor -> monitors.add(operation + " in a monitor of " + monitor));
        }

        @Override
        public String name() {
            return "observed";
        }

        @Override
        public boolean isConfigured() {
            return true;
        }

        @Override
        public Decision acquire(List<Charge> charges) {
            record("acquire");
            return local.acquire(charges);
        }

        @Override
        public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
            record("acquireAsync");
            return local.acquireAsync(charges);
        }

        @Override
        public List<Quota> peek(List<Charge> charges) {
            record("peek");
            return local.peek(charges);
        }

        @Override
        public CompletionStage<Void> refund(Receipt receipt) {
            record("refund");
            return local.refund(receipt);
        }

        @Override
        public CompletionStage<Void> refund(Charge charge) {
            record("refund of a charge");
            return local.refund(charge);
        }

        @Override
        public void reset(List<PolicyLimits> limits, String storedKey) {
            record("reset");
            local.reset(limits, storedKey);
        }

        @Override
        public CompletionStage<List<Charge>> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
            record("settle");
            return local.settle(receipt, selection, actualCost);
        }

        @Override
        public CompletionStage<Boolean> release(Receipt receipt) {
            record("release");
            return local.release(receipt);
        }

        @Override
        public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
            record("renew");
            return local.renew(receipts);
        }

        @Override
        public CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
            record("block");
            return local.block(policy, storedKey, duration);
        }

        @Override
        public CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
            record("unblock");
            return local.unblock(policy, storedKey);
        }

        @Override
        public CompletionStage<Optional<Penalty>> countRejections(
                PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
            record("countRejections");
            return local.countRejections(policy, storedKey, rejections, rule);
        }
    }

    private static final Policy SLOTS = Policy.builder(
                    new PolicyLimits("a", List.of(Limit.concurrency(2, Duration.ofMinutes(1)))),
                    KeyExpression.parse("principal", new KeyTerms(32, 64)))
            .build();

    private static Policy policy(long permits, Policy.Count count) {
        Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, permits, Duration.ofMinutes(1));
        return Policy.builder(
                        new PolicyLimits("a", List.of(limit)), KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .count(count)
                .build();
    }

    private void assertNoMonitors(String... operations) {
        assertThat(backend.operations).containsExactly(operations);
        assertThat(backend.monitors).isEmpty();
    }

    @Test
    void decidesCallsOfARequestWithoutAMonitor() {
        RequestState request = new RequestState(ALICE);
        engine.decide(Fixtures.binding(3, policy(100, Policy.Count.ALWAYS)), ALICE, request);
        engine.decide(Fixtures.binding(10, policy(100, Policy.Count.ALWAYS)), ALICE, request);
        assertNoMonitors("acquire", "acquire");
    }

    @Test
    void settlesARequestWithoutAMonitor() {
        RequestState request = new RequestState(ALICE);
        Binding binding = Fixtures.binding(1, policy(100, Policy.Count.FAILURE));
        request.settleLater(binding, engine.decide(binding, ALICE, request));
        engine.ends().settle(request, true);
        assertNoMonitors("acquire", "refund");
    }

    @Test
    void settlesABeanCallWithoutAMonitor() {
        RequestState request = new RequestState(ALICE);
        Binding binding = Fixtures.binding(1, policy(100, Policy.Count.FAILURE));
        engine.ends().settle(binding, engine.decide(binding, ALICE, request), true, request);
        assertNoMonitors("acquire", "refund");
    }

    @Test
    void refundsReservedPermitsOfAnInterruptedCallWithoutAMonitor() {
        Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, 1, Duration.ofMinutes(1)).withMaxWait(Duration.ofMinutes(5));
        Policy waiting = Policy.builder(
                        new PolicyLimits("a", List.of(limit)), KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .build();
        engine.decide(Fixtures.binding(1, waiting), ALICE, null);
        Thread.currentThread().interrupt();
        engine.decide(Fixtures.binding(1, waiting), ALICE, new RequestState(ALICE));
        assertThat(Thread.interrupted()).isTrue();
        assertNoMonitors("acquire", "acquire", "refund", "acquire");
    }

    @Test
    void decidesAsynchronouslyWithoutAMonitor() {
        Binding binding = Fixtures.binding(1, policy(100, Policy.Count.ALWAYS));
        engine.decideAsync(binding, Identity.of("alice"), Runnable::run).join();
        assertNoMonitors("acquireAsync");
    }

    @Test
    void renewsAndReleasesSlotsWithoutAMonitor() {
        Binding binding = Fixtures.binding(1, SLOTS);
        Receipt receipt = engine.decide(binding, ALICE, null).receipt();
        sleeper.timers.get(0).complete(null);
        engine.ends().release(receipt);
        assertNoMonitors("acquire", "renew", "release");
    }

    @Test
    void operatesOnKeysAndReceiptsWithoutAMonitor() {
        RateLimiter limiter = new EngineRateLimiter(
                engine, () -> Map.of("a", policy(100, Policy.Count.ALWAYS)), () -> Runnable::run, Optional::empty);
        Receipt receipt = limiter.acquire("a", "alice").receipt();
        limiter.settle(receipt, 2);
        limiter.peek("a", "alice");
        limiter.block("a", Identity.of("alice"), Duration.ofMinutes(1));
        limiter.unblock("a", Identity.of("alice"));
        limiter.reset("a", "alice");
        assertNoMonitors("acquire", "settle", "peek", "block", "unblock", "reset");
    }
}
