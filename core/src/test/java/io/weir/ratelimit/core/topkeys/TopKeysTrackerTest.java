// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.topkeys.TopKeysTracker.RecurringKey;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TopKeysTrackerTest {
    private static final PolicyLimits API = limits("api");
    private static final PolicyLimits LOGIN = limits("login");

    private final KeyMasker masker = new KeyMasker(Optional.empty());
    private long nanos = -TimeUnit.MINUTES.toNanos(1);
    private final TopKeysTracker tracker = new TopKeysTracker(masker, () -> nanos);

    private static PolicyLimits limits(String policy) {
        return new PolicyLimits(policy, List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1))));
    }

    private static Quota quota(PolicyLimits policy, boolean rejected) {
        return quota(policy, rejected ? 0 : 5, rejected);
    }

    private static Quota quota(PolicyLimits policy, long remaining, boolean rejected) {
        return TestQuota.of(
                policy.policy(), policy.policy(), 10, 10, Duration.ofMinutes(1), remaining, rejected, 0, 1, 1);
    }

    private void decided(Decision decision, Charge... charges) {
        tracker.decided(List.of(charges), decision, nanos);
    }

    private void calls(String storedKey, int times) {
        for (int i = 0; i < times; i++) {
            decided(new Decision.Allowed(Results.of(quota(API, false)), Receipt.EMPTY), new Charge(API, storedKey, 7));
        }
    }

    private TopKeys.Entry exactly(String storedKey, long count) {
        return new TopKeys.Entry(masker.of(storedKey), count, count, 0.5);
    }

    private TopKeys.Entry spent(String storedKey, long count) {
        return new TopKeys.Entry(masker.of(storedKey), count, count, 1);
    }

    private void pass(long minutes) {
        nanos += TimeUnit.MINUTES.toNanos(minutes);
    }

    private void recurs(RecurringKey key, int times) {
        for (int i = 0; i < times; i++) {
            tracker.allowed(List.of(key), new Decision.Allowed(Results.of(quota(API, false)), Receipt.EMPTY), nanos);
        }
    }

    @Test
    void aRecurringKeyCountsEachCall() {
        RecurringKey ann = new RecurringKey(new Charge(API, "p.ann", 1));
        recurs(ann, 2);
        calls("p.ann", 1);
        recurs(ann, 2);
        assertThat(tracker.top("api").active()).containsExactly(exactly("p.ann", 5));
    }

    @Test
    void aRecurringKeyCountsInTheCurrentPeriod() {
        RecurringKey ann = new RecurringKey(new Charge(API, "p.ann", 1));
        recurs(ann, 3);
        pass(6);
        recurs(ann, 2);
        assertThat(tracker.top("api").active()).containsExactly(exactly("p.ann", 5));
        pass(6);
        recurs(ann, 1);
        assertThat(tracker.top("api").active()).containsExactly(exactly("p.ann", 3));
    }

    @Test
    void aRecurringKeyThatHasLostItsCounterStillCounts() {
        RecurringKey ann = new RecurringKey(new Charge(API, "p.ann", 1));
        recurs(ann, 1);
        for (int key = 0; key < 20 * SpaceSaving.COUNTERS; key++) {
            calls("p.user" + key, 3);
        }
        recurs(ann, 500);
        assertThat(tracker.top("api").active().get(0))
                .satisfies(first -> assertThat(first.key()).isEqualTo(masker.of("p.ann")))
                .satisfies(first -> assertThat(first.maxCount()).isGreaterThanOrEqualTo(501));
    }

    /** Otherwise each call would first try the counter of another key. */
    @Test
    void aRecurringKeyForgetsALostCounter() {
        RecurringKey ann = new RecurringKey(new Charge(API, "p.ann", 1));
        recurs(ann, 1);
        assertThat(ann.place).isNotNull();
        for (int key = 0; key < 200 * SpaceSaving.COUNTERS; key++) {
            calls("p.user" + key, 3);
        }
        recurs(ann, 1);
        assertThat(ann.place).isNull();
        assertThat(tracker.top("api").active()).noneMatch(entry -> entry.key().equals(masker.of("p.ann")));
    }

    @Test
    void theRecurringKeysOfADecisionCountUnderTheirPolicies() {
        Decision decision = new Decision.Allowed(Results.of(quota(API, false), quota(LOGIN, 0, false)), Receipt.EMPTY);
        List<RecurringKey> keys = List.of(
                new RecurringKey(new Charge(API, "i.10.0.0.1", 1)), new RecurringKey(new Charge(LOGIN, "p.ann", 1)));
        tracker.allowed(keys, decision, nanos);
        tracker.allowed(keys, decision, nanos);
        assertThat(tracker.top("api").active()).containsExactly(exactly("i.10.0.0.1", 2));
        assertThat(tracker.top("login").active()).containsExactly(spent("p.ann", 2));
    }

    @Test
    void eachCallCountsOnceAndTheGreatestCountIsFirst() {
        calls("p.ann", 2);
        calls("p.bob", 3);
        assertThat(tracker.top("api").active()).containsExactly(exactly("p.bob", 3), exactly("p.ann", 2));
        assertThat(tracker.top("api").rejected()).isEmpty();
        assertThat(tracker.top("login")).isEqualTo(new TopKeys(List.of(), List.of(), List.of(), Duration.ZERO));
    }

    @Test
    void onlyThePoliciesThatRejectedCountARejection() {
        decided(
                new Decision.Rejected(Results.of(quota(API, false), quota(LOGIN, true))),
                new Charge(API, "i.10.0.0.1", 1),
                new Charge(LOGIN, "p.ann", 1));
        assertThat(tracker.top("api").rejected()).isEmpty();
        assertThat(tracker.top("api").active()).containsExactly(exactly("i.10.0.0.1", 1));
        assertThat(tracker.top("login").rejected()).containsExactly(spent("p.ann", 1));
        assertThat(tracker.top("login").active()).containsExactly(spent("p.ann", 1));
    }

    @Test
    void aShadowRejectionCountsAsARejection() {
        decided(
                new Decision.Allowed(
                        List.of(
                                new ChargeResult("login", true, List.of(quota(LOGIN, true))),
                                new ChargeResult("api", false, List.of(quota(API, false)))),
                        Receipt.EMPTY),
                new Charge(LOGIN, "p.ann", 1).asShadow(),
                new Charge(API, "p.ann", 1));
        assertThat(tracker.top("login").rejected()).containsExactly(spent("p.ann", 1));
        assertThat(tracker.top("api").rejected()).isEmpty();
    }

    @Test
    void aDegradedRejectionCountsAsACallOnly() {
        decided(new Decision.Degraded(FailureMode.CLOSED, false, "timeout"), new Charge(API, "p.ann", 1));
        assertThat(tracker.top("api").rejected()).isEmpty();
        assertThat(tracker.top("api").active()).containsExactly(new TopKeys.Entry(masker.of("p.ann"), 1, 1, 0));
    }

    @Test
    void callsCountForFiveToTenMinutes() {
        calls("p.ann", 1);
        pass(4);
        calls("p.bob", 2);
        assertThat(tracker.top("api").period()).isEqualTo(Duration.ofMinutes(4));
        pass(4);
        calls("p.ann", 4);
        assertThat(tracker.top("api").period()).isEqualTo(Duration.ofMinutes(8));
        assertThat(tracker.top("api").active()).containsExactly(exactly("p.ann", 5), exactly("p.bob", 2));
        pass(5);
        assertThat(tracker.top("api").active()).containsExactly(exactly("p.ann", 4));
        assertThat(tracker.top("api").period()).isEqualTo(Duration.ofMinutes(5));
        pass(10);
        assertThat(tracker.top("api").active()).isEmpty();
        calls("p.bob", 1);
        assertThat(tracker.top("api").active()).containsExactly(exactly("p.bob", 1));
    }

    @Test
    void theFirstCallAfterALongPauseCounts() {
        calls("p.ann", 100);
        pass(60);
        calls("p.ann", 1);
        assertThat(tracker.top("api").active()).containsExactly(exactly("p.ann", 1));
    }

    @Test
    void theLastKeyOfAFullListBoundsTheMissingKeys() {
        for (int round = 0; round < 2; round++) {
            for (int key = 0; key < 5_000; key++) {
                calls("p." + key % 1_000, 1);
            }
            pass(5);
        }
        List<TopKeys.Entry> active = tracker.top("api").active();
        assertThat(active).hasSize(20);
        assertThat(active.get(19).maxCount()).isGreaterThanOrEqualTo(5);
        assertThat(active).allSatisfy(entry -> assertThat(entry.minCount()).isLessThanOrEqualTo(5));
    }

    @Test
    void theLastKeyOfAFullListBoundsAKeyThatNeverHadACounter() {
        for (String crowd : List.of("p.a", "p.b")) {
            for (int key = 0; key < SpaceSaving.COUNTERS; key++) {
                calls(crowd + key, 5);
            }
            calls("p.steady", 4);
            pass(5);
        }
        pass(-1);
        List<TopKeys.Entry> active = tracker.top("api").active();
        assertThat(active).extracting(TopKeys.Entry::key).doesNotContain(masker.of("p.steady"));
        assertThat(active.get(19).maxCount()).isGreaterThanOrEqualTo(8);
    }

    @Test
    void aRemovedPolicyIsDropped() {
        calls("p.ann", 1);
        tracker.retain(Set.of("login"));
        assertThat(tracker.top("api").active()).isEmpty();
        calls("p.ann", 1);
        tracker.retain(Set.of("api"));
        assertThat(tracker.top("api").active()).hasSize(1);
    }

    @Test
    void findsTheStoredKeyByItsMaskedKeyOnly() {
        calls("p.ann", 1);
        String key = tracker.top("api").active().get(0).key();
        assertThat(key).startsWith("p.~").doesNotContain("ann");
        assertThat(tracker.storedKey("api", key)).contains("p.ann");
        assertThat(tracker.storedKey("api", "p.ann")).isEmpty();
        assertThat(tracker.storedKey("login", key)).isEmpty();
    }

    @Test
    void countsNothingIfLimitsAreDisabled() {
        TopKeysTracker.NONE.decided(List.of(new Charge(API, "p.ann", 1)), Decision.Allowed.UNLIMITED, 0);
        assertThat(TopKeysTracker.NONE.top("api").active()).isEmpty();
    }
}
