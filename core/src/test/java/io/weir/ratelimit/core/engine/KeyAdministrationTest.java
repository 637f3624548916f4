// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.Tiers;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyAdministrationTest {
    private static final Policy API = Policy.builder(
                    limits(PolicyLimits.NO_TIER, 10, Duration.ofMinutes(1)),
                    KeyExpression.parse("principal", new KeyTerms(32, 64)))
            .tiers(new Tiers(
                    "header:x-plan",
                    call -> Optional.empty(),
                    Map.of(
                            "gold", limits("gold", 20, Duration.ofMinutes(1)),
                            "iron", limits("iron", 30, Duration.ofHours(1)))))
            .cost(3)
            .build();

    private final PolicySource source = new PolicySource() {
        @Override
        public Set<String> policies() {
            return Set.of("api");
        }

        @Override
        public Optional<LimitOverride> limits(String policy, Identity key) {
            return key.equals(Identity.principal("ann")) ? Optional.of(LimitOverride.of("40/2h")) : Optional.empty();
        }
    };

    private final Overrides overrides = new Overrides(
            OverrideSources.of(List.of(source), new Problems()),
            new LookupTimes(Duration.ofSeconds(5), Duration.ofSeconds(1), () -> 0),
            () -> Runnable::run,
            new KeyMasker(Optional.empty()),
            (policy, failure) -> {});
    private final FakeBackend backend = new FakeBackend();
    private final KeyAdministration keys = keys(backend);

    private KeyAdministration keys(RateLimitBackend of) {
        return RateLimitEngine.on(Fixtures.withFallback(of, Fixtures.health(of)))
                .overrides(overrides)
                .build()
                .keys();
    }

    private static PolicyLimits limits(String tier, long permits, Duration window) {
        return new PolicyLimits("api", tier, List.of(Limit.of(Algorithm.FIXED_WINDOW, permits, window)));
    }

    private long permits(String stored, String tier) {
        List<Quota> quotas = keys.peek(API, stored, tier);
        assertThat(quotas).hasSize(1);
        return quotas.get(0).permits();
    }

    @Test
    void peeksUnderTheLimitsOfTheKeyElseOfTheTierElseOfThePolicy() {
        assertThat(keys.storedKey(API, Identity.principal("ann"))).isEqualTo("p.ann");
        assertThat(keys.storedKey(API, Identity.principal("bob"))).isEqualTo("p.bob");
        assertThat(permits("p.ann", "gold")).isEqualTo(40);
        assertThat(permits("p.bob", "gold")).isEqualTo(20);
        assertThat(permits("p.bob", PolicyLimits.NO_TIER)).isEqualTo(10);
        assertThat(permits("p.eve", PolicyLimits.NO_TIER))
                .as("not in the cache")
                .isEqualTo(10);
        assertThat(backend.calls).contains("peek api p.bob 3");
    }

    @Test
    void resetsAKeyOnceForAllLimitsThatCanApply() {
        String ann = keys.storedKey(API, Identity.principal("ann"));
        keys.reset(API, ann);
        assertThat(backend.calls).containsExactly("reset api p.ann");
        assertThat(backend.changed.stream().map(limits -> limits.limits().get(0).windowText()))
                .contains("1m", "1h", "2h");
    }

    @Test
    void blocksAndUnblocksAKey() {
        LocalBackend local = new LocalBackend(10, () -> 1);
        KeyAdministration blocking = keys(local);
        assertThat(blocking.block(API, "p.ann", Duration.ofMinutes(3))).isEqualTo(Duration.ofMinutes(3));
        assertThat(blocking.peek(API, "p.ann", "gold").get(0).blockedFor()).isEqualTo(Duration.ofMinutes(3));
        blocking.unblock(API, "p.ann");
        assertThat(Micros.blockedFor(blocking.peek(API, "p.ann", "gold").get(0)))
                .isZero();
        assertThatThrownBy(() -> blocking.block(API, "p.ann", Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> keys.block(API, "p.ann", Duration.ofMinutes(3)))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("the backend fake does not implement BlocksKeys");
    }

    @Test
    void aFailingBackendIsUnavailable() {
        backend.failure = FakeBackend.down(BackendException.Reason.TIMEOUT);
        assertThatThrownBy(() -> keys.reset(API, "p.ann")).isInstanceOf(RateLimitUnavailableException.class);
        assertThatThrownBy(() -> permits("p.ann", "none")).isInstanceOf(RateLimitUnavailableException.class);
    }
}
