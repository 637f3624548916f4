// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two instances with leases of keys on several masters. */
@Tag("redis")
class LeasesOnClusterTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final int THREADS = 8;

    private ClusterUnderFault one;
    private ClusterUnderFault other;
    private List<String> storedKeys;

    @BeforeEach
    void connect() {
        one = ClusterUnderFault.on(ClusterFixture.shared(), DEADLINE);
        other = one.another(DEADLINE);
        storedKeys = one.storedKeys();
    }

    @AfterEach
    void disconnect() {
        one.close();
        other.close();
    }

    private static long untilRejected(ClusterUnderFault fixture, List<Charge> charges) {
        long allowedCalls = 0;
        for (int rejected = 0; rejected < 50; ) {
            boolean allowed = fixture.backend().acquire(charges).allowed();
            allowedCalls += allowed ? 1 : 0;
            rejected = allowed ? 0 : rejected + 1;
        }
        return allowedCalls;
    }

    /** Calls in all threads until calls are rejected, and then until as many are allowed in all. Returns their number. */
    private long untilSpent(List<Charge> charges, long permits) throws Exception {
        AtomicLong allowed = new AtomicLong(untilRejected(charges));
        // The last permits of a lease can arrive, or be refunded, after these calls.
        Await.until("the limit is spent", LeasedCalls.SOON, () -> {
            allowed.addAndGet(untilRejected(one, charges) + untilRejected(other, charges));
            return allowed.get() >= permits;
        });
        return allowed.get() + untilRejected(one, charges) + untilRejected(other, charges);
    }

    private long untilRejected(List<Charge> charges) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<Long>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                ClusterUnderFault fixture = thread % 2 == 0 ? one : other;
                all.add(pool.submit(() -> untilRejected(fixture, charges)));
            }
            long allowed = 0;
            for (Future<Long> each : all) {
                allowed += each.get(60, TimeUnit.SECONDS);
            }
            return allowed;
        } finally {
            pool.shutdownNow();
        }
    }

    private void awaitSpent(long permits, Charge charge) {
        Await.until(
                permits + " are spent of " + charge,
                LeasedCalls.SOON,
                () -> one.spent(charge) == permits && other.spent(charge) == permits);
    }

    @Test
    void exhaustsTheLimitOfAHotKeyExactlyWithFewCommands() throws Exception {
        Charge hot = ClusterUnderFault.leased(storedKeys.get(1), 150, Algorithm.TOKEN_BUCKET, 10_007);
        long scripts = one.calls("evalsha");
        assertThat(untilSpent(List.of(hot), 10_007)).isEqualTo(10_007);
        assertThat(one.calls("evalsha") - scripts).isLessThan(5_000);
        assertThat(one.spent(hot)).isEqualTo(10_007);
    }

    @Test
    void spendsAllLeasedPoliciesOfACallOrNone() throws Exception {
        Charge window = ClusterUnderFault.leased(storedKeys.get(0), 50, Algorithm.FIXED_WINDOW, 100_000);
        Charge least = ClusterUnderFault.leased(storedKeys.get(1), 50, Algorithm.SLIDING_WINDOW, 700);
        Charge bucket = ClusterUnderFault.leased(storedKeys.get(2), 50, Algorithm.TOKEN_BUCKET, 100_000);
        List<Charge> charges = new ArrayList<>(List.of(window, least, bucket));
        long allowed = untilRejected(charges);
        Collections.rotate(charges, 1);
        allowed += untilSpent(charges, 700 - allowed);
        assertThat(allowed).isEqualTo(700);
        for (Charge charge : charges) {
            awaitSpent(700, charge);
        }
    }

    @Test
    void refundsLeasedPermitsIfAnotherMasterRejects() {
        Charge window = ClusterUnderFault.leased(storedKeys.get(0), 50, Algorithm.SLIDING_WINDOW, 100_000);
        Charge bucket = ClusterUnderFault.leased(storedKeys.get(1), 50, Algorithm.TOKEN_BUCKET, 100_000);
        Charge narrow = ClusterUnderFault.charge(storedKeys.get(2), 1, Algorithm.FIXED_WINDOW, 10, Duration.ofDays(30));
        LeasedCalls ofWindow = new LeasedCalls(one.backend(), other.backend(), window).hot();
        LeasedCalls ofBucket = new LeasedCalls(one.backend(), other.backend(), bucket).hot();
        long allowed = 0;
        for (int call = 0; call < 150; call++) {
            Decision decision = one.backend()
                    .acquire(call % 2 == 0 ? List.of(window, narrow, bucket) : List.of(bucket, window, narrow));
            allowed += decision.allowed() ? 1 : 0;
            if (decision instanceof Decision.Rejected rejected) {
                assertThat(rejected.violatedPolicies())
                        .containsExactly(narrow.policy().policy());
            }
        }
        assertThat(allowed).isEqualTo(10);
        ofWindow.awaitRefunds(10);
        ofBucket.awaitRefunds(10);
    }

    @Test
    void refundsUnspentPermitsToTheirMastersOnClose() {
        List<LeasedCalls> all = new ArrayList<>();
        for (String storedKey : storedKeys) {
            Charge charge = ClusterUnderFault.leased(storedKey, 1_000, Algorithm.FIXED_WINDOW, 100_000);
            all.add(new LeasedCalls(one.backend(), other.backend(), charge).hot());
        }
        one.close();
        for (LeasedCalls calls : all) {
            assertThat(calls.spentInRedis()).isEqualTo(calls.allowed());
        }
    }
}
