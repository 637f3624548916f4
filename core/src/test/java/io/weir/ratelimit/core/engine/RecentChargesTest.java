// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RecentChargesTest {
    private static final Policy API = policy("api", "principal");

    private final RecentCharges recent = new RecentCharges(charges -> () -> Decision.Allowed.UNLIMITED);

    private static List<Charge> charges(Policy policy, String source) {
        return List.of(new Charge(policy.limits(), "p." + source, 1));
    }

    private void put(Policy policy, String source) {
        recent.put(policy, source, charges(policy, source).get(0));
    }

    @Test
    void returnsTheChargesOfTheSameCall() {
        put(API, "alice");
        assertThat(recent.get(API, "alice", 1).charges()).isEqualTo(charges(API, "alice"));
    }

    @Test
    void anotherCallIsUnknown() {
        put(API, "alice");
        assertThat(recent.get(API, "bob", 1)).isNull();
        assertThat(recent.get(API, "alice", 2)).as("another cost").isNull();
        assertThat(recent.get(policy("api", "principal"), "alice", 1))
                .as("a policy after a reload")
                .isNull();
        assertThat(recent.get(policy("other", "principal"), "alice", 1)).isNull();
    }

    @Test
    void aLongTextIsNotKept() {
        String longest = "a".repeat(RecentCharges.LONGEST);
        put(API, longest);
        put(API, longest + "a");
        assertThat(recent.get(API, longest, 1)).isNotNull();
        assertThat(recent.get(API, longest + "a", 1)).isNull();
    }

    /** Returns callers that have the same places as alice. */
    private static List<String> others(int number) {
        return Stream.iterate(0, i -> i + 1)
                .map(i -> "user" + i)
                .filter(text -> RecentCharges.place(API, text) == RecentCharges.place(API, "alice"))
                .limit(number)
                .toList();
    }

    @Test
    void twoCallersOfTheSamePlaceAreBothKept() {
        String other = others(1).get(0);
        put(API, "alice");
        put(API, other);
        assertThat(recent.get(API, "alice", 1).charges()).isEqualTo(charges(API, "alice"));
        assertThat(recent.get(API, other, 1).charges()).isEqualTo(charges(API, other));
    }

    /** The probability of a false failure is below one to a trillion. */
    @Test
    void aThirdCallerOfTheSamePlaceReplacesAnotherOneAfterSomeCalls() {
        List<String> others = others(2);
        put(API, "alice");
        put(API, others.get(0));
        for (int i = 0; i < 1_000; i++) {
            put(API, others.get(1));
        }
        assertThat(recent.get(API, others.get(1), 1).charges()).isEqualTo(charges(API, others.get(1)));
        assertThat(recent.get(API, others.get(0), 1)).isNotNull();
        assertThat(recent.get(API, "alice", 1)).isNull();
    }

    @Test
    void callsOfOneCallerWithTwoCostsAreBothKept() {
        put(API, "alice");
        recent.put(API, "alice", new Charge(API.limits(), "p.alice", 2));
        assertThat(recent.get(API, "alice", 1).charges().get(0).cost()).isEqualTo(1);
        assertThat(recent.get(API, "alice", 2).charges().get(0).cost()).isEqualTo(2);
    }
}
