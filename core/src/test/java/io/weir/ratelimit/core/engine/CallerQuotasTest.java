// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallerQuotasTest {
    private static final KeyTerms TERMS = new KeyTerms(32, 64);
    private static final TestCall ANN = TestCall.fromAddress("203.0.113.7").withPrincipal("ann");

    private final ManualTime time = new ManualTime();
    private final LocalBackend backend = new LocalBackend(1_000, time);
    private final Map<String, Policy> policies = new HashMap<>();
    private final RateLimitEngine engine = Fixtures.engine(backend);
    private final CallerQuotas quotas = quotas(engine);

    private CallerQuotas quotas(RateLimitEngine of) {
        return new CallerQuotas(
                of,
                () -> policies,
                Set.of("partner"),
                KeyExpression.parse("ip", TERMS)::resolve,
                new IdentityEncoder(Optional.empty()),
                new LocalBackend(100, time));
    }

    private Policy add(String name, String key, Policy.Mode mode, Policy.Disclosure disclosure) {
        Policy policy = Policy.builder(
                        new PolicyLimits(name, List.of(Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofHours(1)))),
                        KeyExpression.parse(key, TERMS))
                .onFailure(FailureMode.CLOSED)
                .mode(mode)
                .disclosure(disclosure)
                .build();
        policies.put(name, policy);
        return policy;
    }

    private Policy add(String name, String key) {
        return add(name, key, Policy.Mode.ENFORCE, Policy.Disclosure.FULL);
    }

    private static long remaining(Map<String, List<Quota>> of, String policy) {
        return of.get(policy).get(0).remaining();
    }

    @Test
    void readsTheQuotasOfTheCallerOnlyAndSpendsNothing() {
        Policy user = add("user", "principal");
        add("address", "ip");
        engine.decide(Fixtures.binding(3, user), ANN, null);
        engine.decide(Fixtures.binding(9, user), TestCall.byPrincipal("ben"), null);
        for (int read = 0; read < 3; read++) {
            Map<String, List<Quota>> read1 = quotas.of(ANN);
            assertThat(read1).containsOnlyKeys("address", "user");
            assertThat(remaining(read1, "user")).isEqualTo(7);
            assertThat(remaining(read1, "address")).isEqualTo(10);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "principal, true",
        "ip, true",
        "global, true",
        "principal | ip, true",
        "header:X-Key, false",
        "query:tenant, false",
        "cookie:id, false",
        "claim:plan, false",
        "arg:user, false",
        "arg:user | ip, false",
        "path:org, false",
        "path:org | ip, false",
        "method, false",
        "method + ip, false",
        "ip + principal, true",
        "ip + header:X-Key, false",
    })
    void showsAPolicyIfTheRequestDeterminesItsKey(String key, boolean shown) {
        add("api", key);
        CallContext call = ANN.withTerm("path:org", "acme").withTerm("method", "Search.find");
        assertThat(quotas.of(call).containsKey("api")).isEqualTo(shown);
    }

    @Test
    void showsKeysOfHeadersAndQueries() {
        add("reseller", "header:X-Key");
        add("tenant", "query:tenant");
        CallContext call = ANN.withHeader("x-key", "secret").withTerm("query:tenant", "acme");
        assertThat(quotas.of(call)).containsOnlyKeys("reseller", "tenant");
    }

    @Test
    void leavesOutPoliciesThatDiscloseNothingOrAreNotEnforced() {
        add("minimal", "ip", Policy.Mode.ENFORCE, Policy.Disclosure.MINIMAL);
        add("shadow", "ip", Policy.Mode.SHADOW, Policy.Disclosure.FULL);
        add("off", "ip", Policy.Mode.OFF, Policy.Disclosure.FULL);
        assertThat(quotas.of(ANN)).isEmpty();
    }

    @Test
    void leavesOutPoliciesOfClients() {
        add("partner", "principal | ip");
        add("code", "principal | ip");
        assertThat(quotas.of(ANN)).containsOnlyKeys("code");
    }

    @Test
    void showsAPolicyInShadowModeForTheKeysThatAreEnforced() {
        for (int i = 0; i < 40; i++) {
            policies.put("p" + i, Fixtures.staged("p" + i, "principal", 50));
        }
        Set<String> shown = quotas.of(ANN).keySet();
        assertThat(shown)
                .isEqualTo(policies.values().stream()
                        .filter(policy -> !policy.isShadowFor(new IdentityEncoder(Optional.empty())
                                .encode(policy.key().resolve(ANN))))
                        .map(Policy::name)
                        .collect(Collectors.toSet()));
        assertThat(shown).hasSizeBetween(1, 39);
    }

    @Test
    void oneOperationOfTheBackendReadsAllPolicies() {
        List<List<Charge>> peeks = new ArrayList<>();
        RateLimitBackend counting = new FakeBackend() {
            @Override
            public List<Quota> peek(List<Charge> charges) {
                peeks.add(charges);
                return super.peek(charges);
            }
        };
        for (int i = 0; i < 20; i++) {
            add("p" + i, i % 2 == 0 ? "ip" : "principal");
        }
        assertThat(quotas(Fixtures.engine(counting)).of(ANN)).hasSize(20);
        assertThat(peeks).hasSize(1);
    }

    @Test
    void failsIfTheBackendIsUnavailable() {
        FakeBackend down = new FakeBackend();
        down.failure = FakeBackend.down(BackendException.Reason.TIMEOUT);
        add("api", "ip");
        assertThatThrownBy(() -> quotas(Fixtures.engine(down)).of(ANN))
                .isInstanceOf(RateLimitUnavailableException.class);
    }

    @Test
    void boundsTheReadsOfAnAddress() {
        for (int read = 0; read < CallerQuotas.READS_PER_MINUTE; read++) {
            assertThat(quotas.rejection(ANN, false)).isEmpty();
        }
        Decision.Rejected rejected = quotas.rejection(ANN, false).orElseThrow();
        assertThat(rejected.retryAfter()).contains(Duration.ofSeconds(1));
        assertThat(quotas.rejection(TestCall.fromAddress("203.0.113.8"), false)).isEmpty();
        time.advanceMicros(1_000_000);
        assertThat(quotas.rejection(ANN, false)).isEmpty();
        assertThat(quotas.rejection(ANN, false)).isPresent();
    }

    @Test
    void aRejectedLoginCountsAsSeveralReads() {
        int logins = CallerQuotas.READS_PER_MINUTE / CallerQuotas.READS_PER_REJECTED_LOGIN;
        for (int login = 0; login < logins; login++) {
            assertThat(quotas.rejection(ANN, true)).isEmpty();
        }
        assertThat(quotas.rejection(ANN, true).orElseThrow().retryAfter()).contains(Duration.ofSeconds(10));
        assertThat(quotas.rejection(ANN, false)).isPresent();
    }

    @Test
    void anotherLoginCountsAsOneRead() {
        for (int login = 0; login <= CallerQuotas.READS_PER_MINUTE - CallerQuotas.READS_PER_REJECTED_LOGIN; login++) {
            assertThat(quotas.rejection(ANN, true)).isEmpty();
            quotas.loginNotRejected(ANN);
        }
        assertThat(quotas.rejection(ANN, true)).isPresent();
        for (int read = 1; read < CallerQuotas.READS_PER_REJECTED_LOGIN; read++) {
            assertThat(quotas.rejection(ANN, false)).isEmpty();
        }
        assertThat(quotas.rejection(ANN, false)).isPresent();
    }

    @Test
    void aFloodOfAddressesDoesNotReadWithoutLimit() {
        int allowed = 0;
        for (int i = 0; i < 10_000; i++) {
            TestCall caller = TestCall.fromAddress("10.0." + i / 250 + "." + (1 + i % 250));
            for (int read = 0; read < 2; read++) {
                allowed += quotas.rejection(caller, false).isEmpty() ? 1 : 0;
            }
        }
        int before = allowed;
        for (int read = 0; read < 1_000; read++) {
            allowed +=
                    quotas.rejection(TestCall.fromAddress("192.0.2.1"), false).isEmpty() ? 1 : 0;
        }
        assertThat(allowed - before).isLessThanOrEqualTo(CallerQuotas.READS_PER_MINUTE);
    }
}
