// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.tck.ManualTime;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Policies in shadow mode that are enforced for a share of the keys. */
class EnforcedShareTest {
    private static final int KEYS = 100_000;

    private static long enforced(Policy policy) {
        return IntStream.range(0, KEYS)
                .filter(i -> !policy.isShadowFor("p.user" + i))
                .count();
    }

    private static String key(Policy policy, boolean shadow) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "user" + i)
                .filter(user -> policy.isShadowFor("p." + user) == shadow)
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10, 50, 99, 100})
    void theShareOfTheKeysIsThePercentage(int percent) {
        double deviation = Math.sqrt(KEYS * (percent / 100.0) * (1 - percent / 100.0));
        for (String name : List.of("api", "login", "a.b")) {
            assertThat((double) enforced(Fixtures.staged(name, "principal", percent)))
                    .isBetween(KEYS * percent / 100.0 - 5 * deviation, KEYS * percent / 100.0 + 5 * deviation);
        }
    }

    @Test
    void aHigherPercentageKeepsTheKeys() {
        for (int i = 0; i < 1_000; i++) {
            boolean before = false;
            for (int percent = 0; percent <= 100; percent++) {
                boolean enforced = !Fixtures.staged("api", "principal", percent).isShadowFor("p.user" + i);
                assertThat(enforced || !before).as("user%d at %d", i, percent).isTrue();
                before = enforced;
            }
            assertThat(before).isTrue();
        }
    }

    @Test
    void policiesSelectDifferentKeys() {
        Policy api = Fixtures.staged("api", "principal", 10);
        Policy login = Fixtures.staged("login", "principal", 10);
        long both = IntStream.range(0, KEYS)
                .filter(i -> !api.isShadowFor("p.user" + i) && !login.isShadowFor("p.user" + i))
                .count();
        assertThat(both).isBetween(800L, 1_200L);
    }

    /** Other keys would be selected after an upgrade of one instance. */
    @Test
    void theSelectedKeysNeverChange() {
        Policy policy = Fixtures.staged("api", "principal", 10);
        assertThat(IntStream.range(0, 100).filter(i -> !policy.isShadowFor("p.user" + i)))
                .containsExactly(1, 3, 5, 11, 16, 21, 24, 52, 63, 68, 82, 93);
    }

    @Test
    void onlyCallsOfSelectedKeysAreRejected() {
        Policy policy = Fixtures.staged("api", "principal", 10);
        Binding binding = Fixtures.binding(10, policy);
        RateLimitEngine engine = Fixtures.engine(new LocalBackend(1_000, new ManualTime()));
        TestCall selected = TestCall.byPrincipal(key(policy, false));
        TestCall other = TestCall.byPrincipal(key(policy, true));
        for (TestCall call : List.of(selected, other)) {
            assertThat(engine.decide(binding, call, null).allowed()).isTrue();
        }
        assertThat(engine.decide(binding, selected, null)).isInstanceOf(Decision.Rejected.class);
        Decision reported = engine.decide(binding, other, null);
        assertThat(reported.allowed()).isTrue();
        assertThat(reported.quotas()).isEmpty();
        assertThat(reported.shadowQuotas()).hasSize(1);
    }

    @Test
    void aSelectedKeyTakesPartInTheDecisionOfAllPolicies() {
        Policy staged = Fixtures.staged("staged", "principal", 10);
        Policy enforced = Fixtures.policy("enforced", "principal");
        Binding binding = Fixtures.binding(10, staged, enforced);
        LocalBackend backend = new LocalBackend(1_000, new ManualTime());
        RateLimitEngine engine = Fixtures.engine(backend);
        TestCall selected = TestCall.byPrincipal(key(staged, false));
        TestCall other = TestCall.byPrincipal(key(staged, true));
        for (int call = 0; call < 3; call++) {
            assertThat(engine.decide(binding, selected, null).allowed()).isEqualTo(call == 0);
            assertThat(engine.decide(binding, other, null).allowed()).isTrue();
        }
        assertThat(remaining(engine, enforced, selected))
                .as("a rejected call spends nothing")
                .isEqualTo(90);
        assertThat(remaining(engine, enforced, other)).isEqualTo(70);
    }

    private static long remaining(RateLimitEngine engine, Policy policy, TestCall call) {
        return engine.decide(Fixtures.binding(1, policy), call, null)
                        .quotas()
                        .get(0)
                        .remaining()
                + 1;
    }
}
