// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.LeaseTable;
import io.weir.ratelimit.redisson.lease.PermitSource;
import io.weir.ratelimit.redisson.rejection.HotKeyDetector;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** More hot keys than an instance holds leases for. */
class ManyLeasesTest {
    private static final int KEYS = 1_100;
    private static final long PERMITS = 300;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, PERMITS, Duration.ofDays(30));
    private static final PolicyLimits POLICY = new PolicyLimits("api", List.of(LIMIT)).withLease(20);

    private final ModelTime time = new ModelTime();
    private final Map<String, Key> keys = new HashMap<>();
    private final List<Integer> notified = new ArrayList<>();
    private Runnable beforeClockIsRead = () -> {};
    private Runnable afterRefund = () -> {};

    private final LeaseTable leases = new LeaseTable(
            new ModelPermits(),
            RedisKeys.of("test"),
            new RejectionCache(RedisKeys.of("test")),
            () -> {
                beforeClockIsRead.run();
                return nanos();
            },
            (nanos, task) -> time.in(nanos / 1_000, task),
            notified::add);

    private long nanos() {
        return time.micros() * 1_000;
    }

    private final class ModelPermits implements PermitSource {
        @Override
        public CompletionStage<AcquireResult> acquire(Charge charge) {
            return CompletableFuture.completedFuture(
                    key(charge.storedKey()).backend.decide(charge, nanos()));
        }

        @Override
        public CompletableFuture<Void> refund(Refund refund) {
            key(refund.charges().get(0).storedKey()).backend.refund(refund);
            afterRefund.run();
            return CompletableFuture.completedFuture(null);
        }
    }

    private final class Key {
        private final Charge one;
        private final LeaseModelBackend backend = new LeaseModelBackend(time);
        private long allowed;

        private Key(String storedKey) {
            this.one = new Charge(POLICY, storedKey, 1);
        }

        private void call() {
            if (leases.spend(one, 0, nanos()) != null) {
                allowed++;
                return;
            }
            AcquireResult result = backend.decide(one, nanos());
            if (result.spent()) {
                allowed++;
                LimitState state = result.charges().get(0).states().get(0);
                leases.recordAllowed(one, state.remaining(LIMIT, backend.now()), nanos());
            }
        }

        private void calls(long times) {
            for (long call = 0; call < times; call++) {
                call();
            }
        }

        private long unspent() {
            return ((FixedWindowState) backend.state(LIMIT)).spent() - allowed;
        }
    }

    private Key key(String storedKey) {
        return keys.computeIfAbsent(storedKey, Key::new);
    }

    private Key key(int number) {
        return key("k." + number);
    }

    private void calls(int from, int to, long times) {
        IntStream.range(from, to).forEach(number -> key(number).calls(times));
    }

    private long leased() {
        return keys.values().stream().filter(key -> key.unspent() > 0).count();
    }

    private void pass(Duration span) {
        time.passTo(time.micros() + span.toNanos() / 1_000);
    }

    @Test
    void chargesKeysBeyondTheMaximumCallByCallAndUsesEachLimitExactly() {
        calls(0, KEYS, HotKeyDetector.HOT + 4);
        assertThat(leased()).isEqualTo(LeaseTable.MAX_LEASES);
        pass(Duration.ofMillis(150));
        assertThat(notified).containsExactly(LeaseTable.MAX_LEASES);
        calls(0, KEYS, 2 * PERMITS);
        assertThat(keys.values()).allMatch(key -> key.allowed == PERMITS);
        assertThat(keys.values()).allMatch(key -> key.unspent() == 0);
    }

    @Test
    void anIdleLeaseLeavesItsPlaceToAnotherKey() {
        calls(0, KEYS, HotKeyDetector.HOT + 4);
        pass(Duration.ofSeconds(2));
        assertThat(leased()).isZero();
        assertThat(notified).endsWith(0);
        calls(KEYS, KEYS + LeaseTable.MAX_LEASES, HotKeyDetector.HOT + 4);
        calls(2 * KEYS, 2 * KEYS + 50, HotKeyDetector.HOT + 4);
        assertThat(leased()).isEqualTo(LeaseTable.MAX_LEASES);
        pass(Duration.ofMillis(150));
        assertThat(notified).endsWith(LeaseTable.MAX_LEASES);
    }

    @Test
    void aClosedLeaseLeavesItsPlaceAtOnce() {
        calls(0, KEYS, HotKeyDetector.HOT + 4);
        Key last = key(KEYS - 1);
        assertThat(last.unspent()).isZero();
        assertThat(leases.close(key(0).one, false)).isCompleted();
        last.calls(4);
        assertThat(last.unspent()).isPositive();
        assertThat(leased()).isEqualTo(LeaseTable.MAX_LEASES);
    }

    @Test
    void twoKeysThatBecomeHotTogetherDoNotShareTheLastPlace() {
        calls(0, LeaseTable.MAX_LEASES - 1, HotKeyDetector.HOT + 4);
        key(KEYS).calls(HotKeyDetector.HOT - 1);
        key(KEYS + 1).calls(HotKeyDetector.HOT - 1);
        beforeClockIsRead = () -> {
            beforeClockIsRead = () -> {};
            key(KEYS + 1).calls(4);
        };
        key(KEYS).calls(4);
        assertThat(leased()).isEqualTo(LeaseTable.MAX_LEASES);
    }

    @Test
    void aCheckThatRunsDuringCloseNotifiesNoListener() {
        calls(0, 100, HotKeyDetector.HOT + 4);
        IntStream.range(0, 8).forEach(check -> {
            pass(LeaseTable.CHECK_INTERVAL_NANOS / 1_000_000);
            calls(50, 100, 1);
        });
        AtomicInteger refundsLeft = new AtomicInteger(40);
        afterRefund = () -> {
            if (refundsLeft.decrementAndGet() == 0) {
                assertThat(leases.close()).isCompleted();
            }
        };
        pass(Duration.ofSeconds(2));
        assertThat(leased()).isZero();
        assertThat(notified).endsWith(0);
    }

    private void pass(long millis) {
        pass(Duration.ofMillis(millis));
    }
}
