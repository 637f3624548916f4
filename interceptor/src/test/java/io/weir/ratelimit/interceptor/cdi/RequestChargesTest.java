// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.RequestCharges;
import io.weir.ratelimit.core.engine.CurrentCharges;
import io.weir.ratelimit.runtime.FakeHttpCall;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Settlements of the current request by beans. */
class RequestChargesTest {
    private static final String[] POLICIES = {
        "ratelimit.policies.tokens.limit=100/1h",
        "ratelimit.policies.tokens.key=global",
        "ratelimit.policies.failures.limit=100/1h",
        "ratelimit.policies.failures.key=global",
        "ratelimit.policies.failures.count=failure",
    };

    private static long remaining(Container container, String policy) {
        return container
                .bean(RateLimiter.class)
                .peek(policy, Identity.GLOBAL)
                .get(0)
                .remaining();
    }

    @Test
    void settlesTheChargesOfTheRequest() {
        try (Container container = Container.start(POLICIES, Model.class)) {
            Model model = container.bean(Model.class);
            RequestCharges charges = container.bean(RequestCharges.class);
            container.inRequest(CallContext.NONE, () -> {
                model.complete();
                assertThat(remaining(container, "tokens")).isEqualTo(60);
                charges.settle("tokens", 15);
                charges.settle("tokens", 70);
            });
            assertThat(remaining(container, "tokens")).isEqualTo(85);
            container.inRequest(CallContext.NONE, () -> {
                model.complete();
                charges.settleAsync("tokens", 50).toCompletableFuture().join();
            });
            assertThat(remaining(container, "tokens")).isEqualTo(35);
        }
    }

    @Test
    void capturedChargesCanBeSettledOnOtherThreadsAndAfterTheRequest() {
        try (Container container = Container.start(POLICIES, Model.class)) {
            Model model = container.bean(Model.class);
            RequestCharges charges = container.bean(RequestCharges.class);
            CompletableFuture<RequestCharges> captured = new CompletableFuture<>();
            container.inRequest(CallContext.NONE, () -> {
                model.complete();
                captured.complete(charges.capture());
            });
            container.inRequest(CallContext.NONE, model::complete);
            CompletableFuture.runAsync(() -> captured.join().settle("tokens", 10))
                    .join();
            assertThat(remaining(container, "tokens")).isEqualTo(50);
            captured.join().capture().settle("tokens", 20);
            assertThat(remaining(container, "tokens")).as("settled once").isEqualTo(50);
        }
    }

    @Test
    void failsWithoutARequest() {
        try (Container container = Container.start(POLICIES, Model.class)) {
            RequestCharges charges = container.bean(RequestCharges.class);
            container.bean(Model.class).complete();
            assertThatThrownBy(() -> charges.settle("tokens", 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("capture the charges");
            assertThatThrownBy(charges::capture).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void unknownPolicyIsAnError() {
        try (Container container = Container.start(POLICIES, Model.class)) {
            RequestCharges charges = container.bean(RequestCharges.class);
            container.inRequest(CallContext.NONE, () -> {
                container.bean(Model.class).complete();
                assertThatThrownBy(() -> charges.settle("tokenz", 1))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("there is no policy \"tokenz\"");
                assertThatThrownBy(() -> charges.capture().settleAsync("tokenz", 1))
                        .isInstanceOf(IllegalArgumentException.class);
                charges.settle("failures", 1);
            });
            assertThat(remaining(container, "tokens")).isEqualTo(60);
            assertThat(remaining(container, "failures"))
                    .as("a known policy without a charge")
                    .isEqualTo(100);
        }
    }

    @Test
    void policyOfALateMethodIsKnown() {
        try (Container container = Container.start(POLICIES, Model.class)) {
            RequestCharges charges = container.bean(RequestCharges.class);
            RateLimitGate gate = container.application().gate();
            FakeHttpCall call = new FakeHttpCall("/late");
            container.inRequest(call, () -> {
                gate.enter(call, Late.class, lateMethod());
                charges.settle("Late.run", 1);
            });
            container.inRequest(CallContext.NONE, () -> charges.settle("Late.run", 1));
        }
    }

    @Test
    void chargeUnderARemovedPolicyIsSettled() {
        try (Container container = Container.start(POLICIES, Model.class)) {
            RateLimitGate gate = container.application().gate();
            RequestCharges afterReload =
                    new CurrentCharges(((CurrentCharges) gate.charges()).settlements(), policy -> false, gate::current);
            container.inRequest(CallContext.NONE, () -> {
                container.bean(Model.class).complete();
                afterReload.settle("tokens", 15);
                afterReload.settle("tokens", 70);
                assertThatThrownBy(() -> afterReload.settle("failures", 1))
                        .isInstanceOf(IllegalArgumentException.class);
            });
            assertThat(remaining(container, "tokens")).isEqualTo(85);
        }
    }

    private static Method lateMethod() {
        try {
            return Late.class.getMethod("run");
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    /** No bean of the deployment. */
    public static class Late {
        @RateLimit(limit = "10/1h", key = "global")
        public void run() {}
    }

    @Test
    void outcomeThatDoesNotCountRefundsTheActualCost() {
        try (Container container = Container.start(POLICIES, Model.class)) {
            Model model = container.bean(Model.class);
            container.inRequest(CallContext.NONE, () -> model.tryOnce(true));
            assertThat(remaining(container, "failures")).isEqualTo(100);
            container.inRequest(
                    CallContext.NONE,
                    () -> assertThatThrownBy(() -> model.tryOnce(false)).isInstanceOf(IllegalStateException.class));
            assertThat(remaining(container, "failures")).isEqualTo(30);
        }
    }

    @ApplicationScoped
    public static class Model {
        @Inject
        RequestCharges charges;

        @RateLimit(value = "tokens", cost = 40)
        public void complete() {}

        @RateLimit(value = "failures", cost = 40)
        public void tryOnce(boolean right) {
            charges.settle("failures", 70);
            if (!right) {
                throw new IllegalStateException("failed");
            }
        }
    }
}
