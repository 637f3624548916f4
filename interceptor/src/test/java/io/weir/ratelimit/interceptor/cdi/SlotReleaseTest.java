// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.runtime.FakeHttpCall;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.control.RequestContextController;
import jakarta.inject.Inject;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The slots of bean calls and of requests: who holds them, and when they are released. */
class SlotReleaseTest {
    private static final String[] POLICIES = {
        "ratelimit.policies.one.concurrency=1",
        "ratelimit.policies.one.concurrency-timeout=1h",
        "ratelimit.policies.one.key=global",
        "ratelimit.policies.failures.limit=5/1h",
        "ratelimit.policies.failures.concurrency=1",
        "ratelimit.policies.failures.concurrency-timeout=1h",
        "ratelimit.policies.failures.count=failure",
        "ratelimit.policies.failures.key=global",
        "ratelimit.policies.patient.concurrency=1",
        "ratelimit.policies.patient.concurrency-timeout=1h",
        "ratelimit.policies.patient.max-wait=1h",
        "ratelimit.policies.patient.key=global",
        "ratelimit.policies.rate.limit=9/1h",
        "ratelimit.policies.rate.key=global",
        "ratelimit.policies.requests.concurrency=1",
        "ratelimit.policies.requests.concurrency-timeout=1h",
        "ratelimit.policies.requests.key=global",
        "ratelimit.policies.requests.paths=/search",
        "ratelimit.policies.counted.limit=5/1h",
        "ratelimit.policies.counted.concurrency=1",
        "ratelimit.policies.counted.concurrency-timeout=1h",
        "ratelimit.policies.counted.count=failure",
        "ratelimit.policies.counted.key=global",
        "ratelimit.policies.counted.paths=/counted",
    };

    private Container container;
    private Work work;

    @BeforeEach
    void start() {
        container = Container.start(POLICIES, Work.class, Inner.class);
        work = container.bean(Work.class);
    }

    @AfterEach
    void stop() {
        container.close();
    }

    /** Returns the free slots of a policy with one slot. */
    private long free(String policy) {
        List<Quota> quotas = container.bean(RateLimiter.class).peek(policy, Identity.GLOBAL);
        return quotas.get(quotas.size() - 1).remaining();
    }

    // --- Calls without a request

    @Test
    void callReleasesItsSlotWhenItReturns() {
        assertThat(work.call(() -> assertThat(free("one")).isZero())).isEqualTo("done");
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void callReleasesItsSlotWhenItThrows() {
        assertThatThrownBy(() -> work.call(() -> {
                    throw new IllegalStateException("failed");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void secondCallIsRejectedAndReleasesNothing() {
        work.call(() -> {
            assertThatThrownBy(() -> work.call(() -> {})).isInstanceOf(RateLimitExceededException.class);
            assertThat(free("one")).isZero();
        });
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    @Tag("field")
    void stageReleasesItsSlotWhenItCompletes() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletionStage<String> called = work.later(answer);
        assertThat(free("one")).isZero();
        answer.complete("done");
        assertThat(called.toCompletableFuture()).isCompletedWithValue("done");
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void stageReleasesItsSlotWhenItFails() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletionStage<String> called = work.later(answer);
        answer.completeExceptionally(new IllegalStateException("failed"));
        assertThatThrownBy(() -> called.toCompletableFuture().join()).isInstanceOf(CompletionException.class);
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void methodWithoutAStageReleasesItsSlotAtOnce() {
        assertThat(work.later(null)).isNull();
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void callThatWaitedWithoutAThreadReleasesItsSlot() {
        CompletableFuture<String> first = new CompletableFuture<>();
        work.patient(first);
        CompletionStage<String> second = work.patient(CompletableFuture.completedFuture("second"));
        assertThat(second.toCompletableFuture()).isNotDone();
        first.complete("first");
        assertThat(second.toCompletableFuture().join()).isEqualTo("second");
        assertThat(free("patient")).isEqualTo(1);
    }

    @Test
    void uncountedOutcomeReleasesTheSlotOnce() {
        work.failing(false);
        assertThat(free("failures")).isEqualTo(1);
        assertThatThrownBy(() -> work.failing(true)).isInstanceOf(IllegalStateException.class);
        assertThat(free("failures")).isEqualTo(1);
        assertThat(container
                        .bean(RateLimiter.class)
                        .peek("failures", Identity.GLOBAL)
                        .get(0)
                        .remaining())
                .isEqualTo(4);
    }

    @Test
    void codeReleasesTheSlotOfItsReceipt() {
        RateLimiter limiter = container.bean(RateLimiter.class);
        container.inRequest(CallContext.NONE, () -> {
            Decision taken = limiter.acquire("one", Identity.GLOBAL);
            assertThat(taken.receipt().holdsSlots()).isTrue();
            assertThat(free("one")).isZero();
            limiter.release(taken.receipt());
            assertThat(free("one")).isEqualTo(1);
        });
    }

    // --- Calls within a request

    @Test
    void requestHoldsTheSlotOfItsCallsUntilItEnds() {
        container.inRequest(CallContext.NONE, () -> {
            work.call(() -> assertThat(free("one")).isZero());
            assertThat(free("one")).as("after the call").isZero();
            work.call(() -> {});
        });
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void requestKeepsTheSlotOfACallThatLastsLonger() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        container.inRequest(CallContext.NONE, () -> {
            work.later(answer);
            work.call(() -> {});
        });
        assertThat(free("one")).as("after the request").isZero();
        answer.complete("done");
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void callThatSharesTheSlotOfAnEarlierOneKeepsIt() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        container.inRequest(CallContext.NONE, () -> {
            work.call(() -> {});
            work.later(answer);
        });
        assertThat(free("one")).as("after the request").isZero();
        answer.complete("done");
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void callUnderOtherPoliciesDoesNotKeepTheSlot() {
        container.inRequest(CallContext.NONE, () -> {
            work.call(() -> {});
            work.unlimitedCalls(new CompletableFuture<>());
        });
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void nestedCallOfTheSamePolicySharesTheSlot() {
        container.inRequest(CallContext.NONE, () -> assertThat(work.nested()).isEqualTo("inner"));
        assertThat(free("one")).isEqualTo(1);
    }

    @Test
    void callAfterTheEndOfItsRequestReleasesItsSlotWhenItReturns() {
        container.inRequest(CallContext.NONE, () -> {
            container.application().gate().current().orElseThrow().end();
            work.call(() -> assertThat(free("one")).isZero());
            assertThat(free("one")).isEqualTo(1);
        });
    }

    @Test
    void requestOfAFilterReleasesItsSlotOnceAtItsEnd() {
        FakeHttpCall call = new FakeHttpCall("/search");
        RateLimitGate gate = container.application().gate();
        RequestContextController scope = container.bean(RequestContextController.class);
        scope.activate();
        assertThat(gate.enter(call, String.class, FakeHttpCall.METHOD)
                        .decision()
                        .allowed())
                .isTrue();
        RequestState request = call.attachedState();
        assertThat(request).isNotNull();
        gate.leave(request, true);
        assertThat(free("requests")).as("after the response filter").isZero();
        request.awaitEnd();
        scope.deactivate();
        assertThat(free("requests")).as("after the scope of a stream").isZero();

        request.end();
        assertThat(free("requests")).isEqualTo(1);
        FakeHttpCall next = new FakeHttpCall("/search");
        gate.enter(next, String.class, FakeHttpCall.METHOD);
        request.end();
        assertThat(free("requests")).as("the slot of the next request").isZero();
        next.attachedState().end();
        assertThat(free("requests")).isEqualTo(1);
    }

    /** A refund at the response filter would release the slot of a stream. */
    @Test
    void uncountedRequestKeepsItsSlotUntilItEnds() {
        FakeHttpCall call = new FakeHttpCall("/counted");
        RateLimitGate gate = container.application().gate();
        gate.enter(call, String.class, FakeHttpCall.METHOD);
        RequestState request = call.attachedState();
        assertThat(request).isNotNull();
        gate.leave(request, true);
        assertThat(free("counted")).isZero();
        request.end();
        assertThat(free("counted")).isEqualTo(1);
        assertThat(container
                        .bean(RateLimiter.class)
                        .peek("counted", Identity.GLOBAL)
                        .get(0)
                        .remaining())
                .isEqualTo(5);
    }

    @Test
    void requestWithoutAResponseReleasesItsSlotWithItsScope() {
        RequestContextController scope = container.bean(RequestContextController.class);
        scope.activate();
        container.application().gate().enter(new FakeHttpCall("/search"), String.class, FakeHttpCall.METHOD);
        assertThat(free("requests")).isZero();
        scope.deactivate();
        assertThat(free("requests")).isEqualTo(1);
    }

    @Test
    void endOfTheApplicationReleasesAllSlots() {
        FakeHttpCall call = new FakeHttpCall("/search");
        container.application().gate().enter(call, String.class, FakeHttpCall.METHOD);
        work.later(new CompletableFuture<>());
        container.application().weir().endWaits();
        assertThat(free("requests")).isEqualTo(1);
        assertThat(free("one")).isEqualTo(1);
    }

    @ApplicationScoped
    public static class Work {
        @Inject
        Inner inner;

        @RateLimit("one")
        public String call(Runnable task) {
            task.run();
            return "done";
        }

        @RateLimit("one")
        public CompletionStage<String> later(CompletionStage<String> answer) {
            return answer;
        }

        @RateLimit("rate")
        public CompletionStage<String> unlimitedCalls(CompletionStage<String> answer) {
            return answer;
        }

        @RateLimit("patient")
        public CompletionStage<String> patient(CompletionStage<String> answer) {
            return answer;
        }

        @RateLimit("failures")
        public void failing(boolean fails) {
            if (fails) {
                throw new IllegalStateException("failed");
            }
        }

        @RateLimit("one")
        public String nested() {
            return inner.call();
        }
    }

    @ApplicationScoped
    public static class Inner {
        @RateLimit("one")
        public String call() {
            return "inner";
        }
    }
}
