// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** More busy keys than an instance takes permits ahead for. */
class ManyLeasesTest {
    private static final int KEYS = 1_100;
    private static final long PERMITS = 300;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, PERMITS, Duration.ofDays(30));
    private static final PolicyLimits POLICY = new PolicyLimits("api", List.of(LIMIT)).withLease(20);

    private final ModelTime time = new ModelTime();
    private final Map<String, Key> keys = new HashMap<>();
    private final List<Integer> told = new ArrayList<>();
    private Runnable whenAsked = () -> {};
    private Runnable whenGivenBack = () -> {};

    private final Leases leases = new Leases(
            new Store(),
            StoredKeys.of("test"),
            new Restraint(StoredKeys.of("test")),
            () -> {
                whenAsked.run();
                return nanos();
            },
            (nanos, task) -> time.in(nanos / 1_000, task),
            told::add);

    private long nanos() {
        return time.micros() * 1_000;
    }

    private final class Store implements Lease.Store {
        @Override
        public CompletionStage<Answer> takeAhead(Charge charge) {
            return CompletableFuture.completedFuture(
                    key(charge.identity()).store.decide(charge, nanos()));
        }

        @Override
        public CompletableFuture<Void> giveBack(GiveBack what) {
            key(what.charges().get(0).identity()).store.giveBack(what);
            whenGivenBack.run();
            return CompletableFuture.completedFuture(null);
        }
    }

    private final class Key {
        private final Charge one;
        private final LeaseModelStore store = new LeaseModelStore(time);
        private long admitted;

        private Key(String identity) {
            this.one = new Charge(POLICY, identity, 1);
        }

        private void call() {
            if (leases.take(one, false, nanos()) != null) {
                admitted++;
                return;
            }
            Answer answer = store.decide(one, nanos());
            if (answer.spent()) {
                admitted++;
                leases.admitted(one, answer.states().get(0).remaining(LIMIT, store.now()), nanos());
            }
        }

        private void calls(long times) {
            for (long call = 0; call < times; call++) {
                call();
            }
        }

        private long ahead() {
            return ((FixedWindowState) store.state(LIMIT)).spent() - admitted;
        }
    }

    private Key key(String identity) {
        return keys.computeIfAbsent(identity, Key::new);
    }

    private Key key(int number) {
        return key("k." + number);
    }

    private void calls(int from, int to, long times) {
        IntStream.range(from, to).forEach(number -> key(number).calls(times));
    }

    private long leased() {
        return keys.values().stream().filter(key -> key.ahead() > 0).count();
    }

    private void pass(Duration span) {
        time.passTo(time.micros() + span.toNanos() / 1_000);
    }

    @Test
    void keysBeyondThePlacesAreChargedCallByCallAndAllLimitsAreUsedUpExactly() {
        calls(0, KEYS, Busyness.BUSY + 4);
        assertThat(leased()).isEqualTo(Leases.MOST);
        pass(Duration.ofMillis(150));
        assertThat(told).containsExactly(Leases.MOST);
        calls(0, KEYS, 2 * PERMITS);
        assertThat(keys.values()).allMatch(key -> key.admitted == PERMITS);
        assertThat(keys.values()).allMatch(key -> key.ahead() == 0);
    }

    @Test
    void aKeyThatNobodyCallsOnAnyMoreLeavesItsPlaceToAnother() {
        calls(0, KEYS, Busyness.BUSY + 4);
        pass(Duration.ofSeconds(2));
        assertThat(leased()).isZero();
        assertThat(told).endsWith(0);
        calls(KEYS, KEYS + Leases.MOST, Busyness.BUSY + 4);
        calls(2 * KEYS, 2 * KEYS + 50, Busyness.BUSY + 4);
        assertThat(leased()).isEqualTo(Leases.MOST);
        pass(Duration.ofMillis(150));
        assertThat(told).endsWith(Leases.MOST);
    }

    @Test
    void aKeyWhoseLeaseIsEndedLeavesItsPlaceAtOnce() {
        calls(0, KEYS, Busyness.BUSY + 4);
        Key late = key(KEYS - 1);
        assertThat(late.ahead()).isZero();
        assertThat(leases.end(key(0).one, false)).isCompleted();
        late.calls(4);
        assertThat(late.ahead()).isPositive();
        assertThat(leased()).isEqualTo(Leases.MOST);
    }

    @Test
    void twoKeysThatBecomeBusyTogetherDoNotShareTheLastPlace() {
        calls(0, Leases.MOST - 1, Busyness.BUSY + 4);
        key(KEYS).calls(Busyness.BUSY - 1);
        key(KEYS + 1).calls(Busyness.BUSY - 1);
        whenAsked = () -> {
            whenAsked = () -> {};
            key(KEYS + 1).calls(4);
        };
        key(KEYS).calls(4);
        assertThat(leased()).isEqualTo(Leases.MOST);
    }

    @Test
    void aLookThatIsUnderWayWhenAllIsGivenBackTellsNothingMore() {
        calls(0, 100, Busyness.BUSY + 4);
        IntStream.range(0, 8).forEach(look -> {
            pass(Leases.LOOK_EVERY_NANOS / 1_000_000);
            calls(50, 100, 1);
        });
        whenGivenBack = () -> {
            whenGivenBack = () -> {};
            assertThat(leases.close()).isCompleted();
        };
        pass(Duration.ofSeconds(2));
        assertThat(leased()).isZero();
        assertThat(told).endsWith(0);
    }

    private void pass(long millis) {
        pass(Duration.ofMillis(millis));
    }
}
