// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicySource;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;

/** Limits of a source that the application cannot have. */
class SourceLimitsTest {
    @ApplicationScoped
    public static class Plans implements PolicySource {
        @Override
        public Set<String> policies() {
            return Set.of("plan");
        }

        @Override
        public Optional<LimitOverride> limits(String policy, Identity key) {
            LimitOverride limits = LimitOverride.of("5/1h");
            return Optional.of(key.parts().get(0).value().equals("ann") ? limits.withConcurrency(3) : limits);
        }
    }

    @ApplicationScoped
    public static class Shop {
        @RateLimit("plan")
        public void order() {}
    }

    @ApplicationScoped
    public static class Feed {
        @RateLimit("plan")
        public Flow.Publisher<String> read() {
            return subscriber -> {};
        }
    }

    private static int allowed(Container container, String name) {
        return container.allowed(
                TestCall.byPrincipal(name),
                "plan",
                9,
                () -> container.bean(Shop.class).order());
    }

    @Test
    void aConcurrencyLimitOfAMethodWithAnUnknownEndIsAnInvalidAnswer() {
        String[] config = {
            "ratelimit.metrics=none",
            "ratelimit.redis.deadline=10s",
            "ratelimit.policies.plan.limit=2/1h",
            "ratelimit.policies.plan.key=principal"
        };
        try (LogCapture log = new LogCapture();
                Container container = Container.start(config, Feed.class, Shop.class, Plans.class)) {
            assertThat(allowed(container, "ann")).as("the limits of the policy").isEqualTo(2);
            assertThat(allowed(container, "ben")).as("those of the source").isEqualTo(5);
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-316"))
                    .hasSize(1);
        }
    }

    @Test
    void aConcurrencyLimitUnderAPolicyOfARestClientIsAnInvalidAnswer() {
        String[] config = {
            "ratelimit.metrics=none",
            "ratelimit.policies.plan.limit=2/1h",
            "ratelimit.policies.plan.key=principal",
            "ratelimit.clients.prices.policy=plan"
        };
        try (LogCapture log = new LogCapture();
                Container container = Container.start(config, Shop.class, Plans.class)) {
            assertThat(allowed(container, "ann")).as("the limits of the policy").isEqualTo(2);
            assertThat(allowed(container, "ben")).as("those of the source").isEqualTo(5);
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-316"))
                    .hasSize(1);
        }
    }
}
