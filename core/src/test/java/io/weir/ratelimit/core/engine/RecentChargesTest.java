// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.Binding.PolicyCost;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RecentChargesTest {
    private static final List<PolicyCost> API =
            binding(1, policy("api", "principal")).policies();

    private final RecentCharges recent = new RecentCharges(charges -> () -> Decision.Allowed.UNLIMITED);

    private static List<Charge> charges(List<PolicyCost> policies, String source) {
        return policies.stream()
                .map(each -> new Charge(each.policy().limits(), "p." + source, each.cost()))
                .toList();
    }

    private void put(List<PolicyCost> policies, String source) {
        recent.put(policies, source, charges(policies, source));
    }

    private static List<PolicyCost> withCost(List<PolicyCost> policies, long cost) {
        return policies.stream()
                .map(each -> new PolicyCost(each.policy(), cost))
                .toList();
    }

    @Test
    void returnsTheChargesOfTheSameCall() {
        put(API, "alice");
        assertThat(recent.get(API, "alice").charges()).isEqualTo(charges(API, "alice"));
        assertThat(recent.get(withCost(API, 1), "alice")).isSameAs(recent.get(API, "alice"));
    }

    @Test
    void anotherCallIsUnknown() {
        List<PolicyCost> both =
                binding(1, API.get(0).policy(), policy("other", "principal")).policies();
        put(API, "alice");
        assertThat(recent.get(API, "bob")).isNull();
        assertThat(recent.get(withCost(API, 2), "alice")).as("another cost").isNull();
        assertThat(recent.get(binding(1, policy("api", "principal")).policies(), "alice"))
                .as("a policy after a reload")
                .isNull();
        assertThat(recent.get(binding(1, policy("other", "principal")).policies(), "alice"))
                .isNull();
        assertThat(recent.get(both, "alice")).isNull();
        put(both, "alice");
        assertThat(recent.get(both, "alice").charges()).isEqualTo(charges(both, "alice"));
        assertThat(recent.get(List.of(both.get(1), both.get(0)), "alice"))
                .as("another order")
                .isNull();
    }

    @Test
    void aLongTextIsNotKept() {
        String longest = "a".repeat(RecentCharges.LONGEST);
        put(API, longest);
        put(API, longest + "a");
        assertThat(recent.get(API, longest)).isNotNull();
        assertThat(recent.get(API, longest + "a")).isNull();
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
        assertThat(recent.get(API, "alice").charges()).isEqualTo(charges(API, "alice"));
        assertThat(recent.get(API, other).charges()).isEqualTo(charges(API, other));
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
        assertThat(recent.get(API, others.get(1)).charges()).isEqualTo(charges(API, others.get(1)));
        assertThat(recent.get(API, others.get(0))).isNotNull();
        assertThat(recent.get(API, "alice")).isNull();
    }

    @Test
    void callsOfOneCallerWithTwoCostsAreBothKept() {
        put(API, "alice");
        put(withCost(API, 2), "alice");
        assertThat(recent.get(API, "alice").charges().get(0).cost()).isEqualTo(1);
        assertThat(recent.get(withCost(API, 2), "alice").charges().get(0).cost())
                .isEqualTo(2);
    }
}
