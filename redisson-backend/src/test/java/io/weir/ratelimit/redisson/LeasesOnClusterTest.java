// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two instances that take permits ahead of keys on several masters. */
class LeasesOnClusterTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final int THREADS = 8;

    private ClusterStore one;
    private ClusterStore other;
    private List<String> identities;

    @BeforeEach
    void connect() {
        one = ClusterStore.on(ClusterFixture.shared(), DEADLINE);
        other = one.another(DEADLINE);
        identities = one.identities();
    }

    @AfterEach
    void disconnect() {
        one.close();
        other.close();
    }

    private long untilRefused(ClusterStore store, List<Charge> charges) {
        long admitted = 0;
        for (int refused = 0; refused < 50; ) {
            boolean allowed = store.backend().acquire(charges).allowed();
            admitted += allowed ? 1 : 0;
            refused = allowed ? 0 : refused + 1;
        }
        return admitted;
    }

    private long untilRefused(List<Charge> charges) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<Long>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                ClusterStore store = thread % 2 == 0 ? one : other;
                all.add(pool.submit(() -> untilRefused(store, charges)));
            }
            long admitted = 0;
            for (Future<Long> each : all) {
                admitted += each.get(60, TimeUnit.SECONDS);
            }
            return admitted;
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
    void aHotKeyIsUsedUpToTheLastPermitWithFewCommands() throws Exception {
        Charge hot = ClusterStore.leased(identities.get(1), 150, Algorithm.TOKEN_BUCKET, 10_007);
        long scripts = one.calls("evalsha");
        assertThat(untilRefused(List.of(hot))).isEqualTo(10_007);
        assertThat(one.calls("evalsha") - scripts).isLessThan(5_000);
        assertThat(one.spent(hot)).isEqualTo(10_007);
    }

    @Test
    void ofSeveralLeasedPoliciesOnSeveralMastersAllAreSpentOrNone() throws Exception {
        Charge window = ClusterStore.leased(identities.get(0), 50, Algorithm.FIXED_WINDOW, 100_000);
        Charge least = ClusterStore.leased(identities.get(1), 50, Algorithm.SLIDING_WINDOW, 700);
        Charge bucket = ClusterStore.leased(identities.get(2), 50, Algorithm.TOKEN_BUCKET, 100_000);
        List<Charge> charges = new ArrayList<>(List.of(window, least, bucket));
        long admitted = untilRefused(charges);
        Collections.rotate(charges, 1);
        admitted += untilRefused(charges);
        assertThat(admitted).isEqualTo(700);
        for (Charge charge : charges) {
            awaitSpent(700, charge);
        }
    }

    @Test
    void whatAnotherMasterRefusesPutsBackWhatWasTakenFromMemory() {
        Charge window = ClusterStore.leased(identities.get(0), 50, Algorithm.SLIDING_WINDOW, 100_000);
        Charge bucket = ClusterStore.leased(identities.get(1), 50, Algorithm.TOKEN_BUCKET, 100_000);
        Charge narrow = ClusterStore.charge(identities.get(2), 1, Algorithm.FIXED_WINDOW, 10, Duration.ofDays(30));
        LeasedCalls ofWindow = new LeasedCalls(one.backend(), other.backend(), window).hot();
        LeasedCalls ofBucket = new LeasedCalls(one.backend(), other.backend(), bucket).hot();
        long admitted = 0;
        for (int call = 0; call < 150; call++) {
            Decision decision = one.backend()
                    .acquire(call % 2 == 0 ? List.of(window, narrow, bucket) : List.of(bucket, window, narrow));
            admitted += decision.allowed() ? 1 : 0;
            if (decision instanceof Decision.Rejected refused) {
                assertThat(refused.violatedPolicies())
                        .containsExactly(narrow.policy().policy());
            }
        }
        assertThat(admitted).isEqualTo(10);
        ofWindow.awaitGivenBack(10);
        ofBucket.awaitGivenBack(10);
    }

    @Test
    void unspentPermitsAreBackOnTheirMastersWhenTheStoreIsClosed() {
        List<LeasedCalls> all = new ArrayList<>();
        for (String identity : identities) {
            Charge charge = ClusterStore.leased(identity, 1_000, Algorithm.FIXED_WINDOW, 100_000);
            all.add(new LeasedCalls(one.backend(), other.backend(), charge).hot());
        }
        one.close();
        for (LeasedCalls calls : all) {
            assertThat(calls.spentInRedis()).isEqualTo(calls.admitted());
        }
    }
}
