// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Named;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Beans under policies that count only some outcomes, never reject or have bypassing callers. */
class OutcomesTest {
    private static final String[] POLICIES = {
        "ratelimit.policies.failures.limit=2/1h",
        "ratelimit.policies.failures.key=global",
        "ratelimit.policies.failures.count=failure",
        "ratelimit.policies.successes.limit=2/1h",
        "ratelimit.policies.successes.key=global",
        "ratelimit.policies.successes.count=success",
        "ratelimit.policies.off.limit=0/1h",
        "ratelimit.policies.off.mode=off",
        "ratelimit.policies.shadow.limit=1/1h",
        "ratelimit.policies.shadow.key=global",
        "ratelimit.policies.shadow.mode=shadow",
        "ratelimit.redis.deadline=10s",
        "ratelimit.policies.tiered.limit=1/1h",
        "ratelimit.policies.tiered.key=principal",
        "ratelimit.policies.tiered.tier=plans",
        "ratelimit.policies.tiered.tiers.premium.limit=3/1h",
        "ratelimit.bypass.roles=monitor",
    };

    @Test
    void onlyFailuresAreCounted() {
        try (Container container = start()) {
            Accounts accounts = container.bean(Accounts.class);
            for (int i = 0; i < 5; i++) {
                accounts.login(true);
            }
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> accounts.login(false)).isInstanceOf(IllegalStateException.class);
            }
            assertThatThrownBy(() -> accounts.login(true)).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void onlyFailuresAreCountedByTheFailureModeLocal() {
        List<String> lines = new ArrayList<>(List.of(POLICIES));
        lines.add("ratelimit.backend=unavailable");
        lines.add("ratelimit.policies.failures.on-failure=local");
        Class<?>[] beans = {Beans.UnavailableBackend.class, Accounts.class, Plans.class};
        try (Container container = Container.start(lines.toArray(String[]::new), beans)) {
            Accounts accounts = container.bean(Accounts.class);
            for (int i = 0; i < 5; i++) {
                accounts.login(true);
                container.inRequest(new User("alice", ""), () -> accounts.login(true));
            }
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> accounts.login(false)).isInstanceOf(IllegalStateException.class);
            }
            assertThatThrownBy(() -> accounts.login(true)).isInstanceOf(RateLimitUnavailableException.class);
        }
    }

    @Test
    void aFailureAfterASuccessInTheSameRequestIsCharged() {
        try (Container container = start()) {
            Accounts accounts = container.bean(Accounts.class);
            for (int i = 0; i < 2; i++) {
                container.inRequest(new User("mallory", ""), () -> {
                    accounts.login(true);
                    assertThatThrownBy(() -> accounts.login(false)).isInstanceOf(IllegalStateException.class);
                });
            }
            assertThatThrownBy(() -> accounts.login(true)).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void onlySuccessesAreCounted() {
        try (Container container = start()) {
            Accounts accounts = container.bean(Accounts.class);
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> accounts.order(false)).isInstanceOf(IllegalStateException.class);
            }
            accounts.order(true);
            accounts.order(true);
            assertThatThrownBy(() -> accounts.order(true)).isInstanceOf(RateLimitExceededException.class);
        }
    }

    @Test
    void aStageIsSettledWhenItCompletes() {
        try (Container container = start()) {
            Accounts accounts = container.bean(Accounts.class);
            CompletableFuture<String> first = new CompletableFuture<>();
            CompletableFuture<String> second = new CompletableFuture<>();
            accounts.later(first);
            accounts.later(second);
            assertThat(accounts.later(second).toCompletableFuture()).isCompletedExceptionally();

            first.completeExceptionally(new IllegalStateException("failed"));
            second.complete("done");

            assertThat(accounts.later(second).toCompletableFuture()).isCompletedWithValue("done");
            assertThat(accounts.later(second).toCompletableFuture()).isCompletedExceptionally();
        }
    }

    @Test
    void aPolicyThatIsOffAllowsEveryCall() {
        try (Container container = start()) {
            container.bean(Accounts.class).unlimited();
            RateLimiter limiter = container.bean(RateLimiter.class);
            assertThat(limiter.acquire("off", "tenant")).isSameAs(Decision.Allowed.UNLIMITED);
            assertThat(limiter.acquireAsync("off", "tenant").toCompletableFuture())
                    .isCompletedWithValue(Decision.Allowed.UNLIMITED);
        }
    }

    @Test
    void aPolicyInShadowModeReportsRejectionsAndAllowsTheCalls() {
        try (Container container = start()) {
            Accounts accounts = container.bean(Accounts.class);
            accounts.watched();
            accounts.watched();
            assertThat(container.bean(RecordingListener.class).shadowRejections())
                    .containsExactly(false, true);
        }
    }

    @Test
    void aCallerWithABypassRoleIsNotLimitedAndListenersAreNotified() {
        try (Container container = start()) {
            Accounts accounts = container.bean(Accounts.class);
            container.inRequest(new User("eve", "monitor"), () -> {
                for (int i = 0; i < 5; i++) {
                    assertThatThrownBy(() -> accounts.login(false)).isInstanceOf(IllegalStateException.class);
                }
            });
            assertThat(container.bean(RecordingListener.class).bypassed()).containsExactly("Accounts.login failures");
            container.inRequest(new User("bob", "user"), () -> accounts.login(true));
        }
    }

    @Test
    void aTierOfAResolverBeanHasItsLimit() {
        try (Container container = start()) {
            Accounts accounts = container.bean(Accounts.class);
            for (int i = 0; i < 3; i++) {
                container.inRequest(new User("premium-pia", ""), accounts::tiered);
            }
            container.inRequest(
                    new User("premium-pia", ""),
                    () -> assertThatThrownBy(accounts::tiered).isInstanceOf(RateLimitExceededException.class));
            container.inRequest(new User("free-fred", ""), accounts::tiered);
            container.inRequest(
                    new User("free-fred", ""),
                    () -> assertThatThrownBy(accounts::tiered).isInstanceOf(RateLimitExceededException.class));
        }
    }

    @Test
    void peekReturnsTheQuotasOfTheCurrentCaller() {
        try (Container container = start()) {
            RateLimiter limiter = container.bean(RateLimiter.class);
            container.inRequest(new User("premium-pia", ""), () -> {
                assertThat(limiter.peek("tiered")).extracting(Quota::remaining).containsExactly(3L);
                container.bean(Accounts.class).tiered();
                assertThat(limiter.peek("tiered")).extracting(Quota::remaining).containsExactly(2L);
            });
            assertThatThrownBy(() -> limiter.peek("tiered"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("no HTTP request is active: peek with a key");
            assertThatThrownBy(() -> limiter.peek("none")).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static Container start() {
        return Container.start(POLICIES, Accounts.class, RecordingListener.class, Plans.class);
    }

    @ApplicationScoped
    public static class Accounts {
        @RateLimit("failures")
        public void login(boolean right) {
            succeed(right);
        }

        @RateLimit("successes")
        public void order(boolean right) {
            succeed(right);
        }

        @RateLimit("successes")
        public CompletionStage<String> later(CompletionStage<String> answer) {
            return answer;
        }

        @RateLimit("off")
        public void unlimited() {}

        @RateLimit("shadow")
        public void watched() {}

        @RateLimit("tiered")
        public void tiered() {}

        private static void succeed(boolean right) {
            if (!right) {
                throw new IllegalStateException("failed");
            }
        }
    }

    @Named("plans")
    @ApplicationScoped
    public static class Plans implements TierResolver {
        @Override
        public Optional<String> tier(Identity caller) {
            return Optional.of(caller.parts().get(0).value().split("-", -1)[0]);
        }
    }

    @ApplicationScoped
    public static class RecordingListener implements DecisionListener {
        private final List<Boolean> shadowRejections = new CopyOnWriteArrayList<>();
        private final List<String> bypassed = new CopyOnWriteArrayList<>();

        public List<Boolean> shadowRejections() {
            return shadowRejections;
        }

        public List<String> bypassed() {
            return bypassed;
        }

        @Override
        public void onDecision(DecisionEvent event) {
            if (event.decision() instanceof Decision.Allowed allowed) {
                allowed.shadowQuotas().forEach(quota -> shadowRejections.add(quota.rejected()));
            }
        }

        @Override
        public void onBypass(String endpoint, List<PolicyLimits> policies) {
            policies.forEach(policy -> bypassed.add(endpoint + " " + policy.policy()));
        }
    }

    /** A user with a role. */
    private record User(String name, String role) implements CallContext {
        @Override
        public Optional<String> peerAddress() {
            return Optional.empty();
        }

        @Override
        public Optional<String> principal() {
            return Optional.of(name);
        }

        @Override
        public Optional<String> header(String header) {
            return Optional.empty();
        }

        @Override
        public Optional<Object> argument(String argument) {
            return Optional.empty();
        }

        @Override
        public boolean isInRole(String wanted) {
            return wanted.equals(role);
        }
    }
}
