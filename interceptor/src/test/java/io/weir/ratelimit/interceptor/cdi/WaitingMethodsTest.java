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
import io.weir.ratelimit.core.engine.CallEnds;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.snapshot.MethodBindings;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.FakeHttpCall;
import io.weir.ratelimit.runtime.LaterEntry;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Asynchronous methods that wait for permits. The slot of a waiting call is half an hour away, or a millisecond. */
class WaitingMethodsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final String[] POLICIES = {
        "ratelimit.policies.paced.limit=2/1h",
        "ratelimit.policies.paced.algorithm=leaky-bucket",
        "ratelimit.policies.paced.key=global",
        "ratelimit.policies.paced.max-wait=1h",
        "ratelimit.policies.soon.limit=1000/1s",
        "ratelimit.policies.soon.algorithm=leaky-bucket",
        "ratelimit.policies.soon.key=global",
        "ratelimit.policies.soon.max-wait=1h",
        "ratelimit.policies.window.limit=1/1h",
        "ratelimit.policies.window.algorithm=fixed-window",
        "ratelimit.policies.window.key=global",
        "ratelimit.policies.window.max-wait=1h",
    };

    private final Container container = Container.start(POLICIES, Partner.class, Visit.class);
    private final RateLimitGate gate = container.application().gate();
    private final Partner partner = container.bean(Partner.class);
    private boolean closed;
    private final List<Object> resumed = new CopyOnWriteArrayList<>();
    private final AsyncResponse response = (AsyncResponse) Proxy.newProxyInstance(
            getClass().getClassLoader(), new Class<?>[] {AsyncResponse.class}, (proxy, method, arguments) -> {
                resumed.add(arguments == null ? method.getName() : arguments[0]);
                return true;
            });

    @AfterEach
    void close() {
        if (!closed) {
            closed = true;
            container.close();
        }
    }

    @RequestScoped
    public static class Visit {
        public String text() {
            return "visit";
        }
    }

    @ApplicationScoped
    public static class Partner {
        private final List<Thread> threads = new CopyOnWriteArrayList<>();

        @Inject
        Visit visit;

        int calls() {
            return threads.size();
        }

        List<Thread> threads() {
            return threads;
        }

        @RateLimit("paced")
        public CompletionStage<String> paced() {
            threads.add(Thread.currentThread());
            return CompletableFuture.completedStage("paced");
        }

        @RateLimit("paced")
        public String blocking() {
            threads.add(Thread.currentThread());
            return "paced";
        }

        @RateLimit("paced")
        public void paced(@Suspended AsyncResponse response) {
            threads.add(Thread.currentThread());
            response.resume("paced");
        }

        @RateLimit("soon")
        public CompletableFuture<String> soon(Thread caller) {
            boolean waited = !Thread.currentThread().equals(caller);
            return CompletableFuture.completedFuture(waited ? visit.text() : "no request scope");
        }

        @RateLimit("soon")
        public CompletionStage<String> failing() {
            return CompletableFuture.failedStage(new IllegalStateException("failed"));
        }

        @RateLimit("soon")
        public CompletionStage<String> throwing() {
            throw new IllegalStateException("thrown");
        }

        @RateLimit("soon")
        public void soon(@Suspended AsyncResponse response) {
            response.resume("soon");
        }

        @RateLimit("soon")
        public void throwing(@Suspended AsyncResponse response) {
            throw new IllegalStateException("thrown");
        }

        @RateLimit("window")
        public CompletionStage<String> window() {
            return CompletableFuture.completedStage("window");
        }
    }

    private long slots() {
        Quota quota =
                container.bean(RateLimiter.class).peek("paced", Identity.GLOBAL).get(0);
        long slot = TimeUnit.MINUTES.toMicros(30);
        return (Micros.resetAfter(quota) + slot - 1) / slot;
    }

    private static Method method(String name, Class<?>... parameters) {
        try {
            return Partner.class.getMethod(name, parameters);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aCallThatNeedNotWaitRunsOnTheThreadOfTheCaller() {
        assertThat(partner.paced().toCompletableFuture()).isCompletedWithValue("paced");
        assertThat(partner.threads()).containsExactly(Thread.currentThread());
    }

    @Test
    @Tag("field")
    void aCanceledCallNeverRunsAndRefundsItsSlot() {
        partner.paced();
        CompletableFuture<String> waiting = partner.paced().toCompletableFuture();
        assertThat(waiting).isNotDone();
        assertThat(slots()).isEqualTo(2);
        waiting.cancel(true);
        Await.until("the slot is refunded", TIMEOUT, () -> slots() == 1);
        assertThat(partner.calls()).isOne();
    }

    @Test
    void aWaitingCallRunsLaterInARequestScope() {
        List<CompletableFuture<String>> calls = new ArrayList<>();
        for (int call = 0; call < 200; call++) {
            calls.add(partner.soon(Thread.currentThread()));
        }
        Await.until("all calls have run", TIMEOUT, () -> calls.stream().allMatch(CompletableFuture::isDone));
        assertThat(calls).extracting(CompletableFuture::join).contains("visit", "no request scope");
    }

    @Test
    void aCallThatHasWaitedBelongsToItsRequest() throws Exception {
        RequestState request = new RequestState(new FakeHttpCall("/paced"));
        assertThat(container.application().states().call(request, gate::current))
                .containsSame(request);
        assertThat(container.application().states().call(null, gate::current)).isEmpty();
    }

    @Test
    void failuresOfAWaitingMethodCompleteTheStage() {
        for (int call = 0; call < 200; call++) {
            assertThat(failure(partner.failing())).hasMessage("failed");
        }
        // Some of these calls do not have to wait.
        for (int call = 0; call < 200; call++) {
            CompletionStage<String> stage;
            try {
                stage = partner.throwing();
            } catch (IllegalStateException e) {
                continue;
            }
            assertThat(failure(stage)).hasMessage("thrown");
        }
    }

    private static Throwable failure(CompletionStage<?> stage) {
        try {
            stage.toCompletableFuture().join();
            throw new AssertionError("no failure");
        } catch (CompletionException e) {
            return e.getCause();
        }
    }

    @Test
    void aResponseIsResumedAfterTheWait() {
        for (int call = 0; call < 200; call++) {
            partner.soon(response);
        }
        Await.until("all responses are resumed", TIMEOUT, () -> resumed.size() == 200);
        assertThat(resumed).containsOnly("soon");
    }

    @Test
    void anExceptionOfAWaitingMethodResumesTheResponse() {
        int thrown = 0;
        for (int call = 0; call < 200; call++) {
            try {
                partner.throwing(response);
            } catch (IllegalStateException e) {
                thrown++;
            }
        }
        int waited = 200 - thrown;
        Await.until("all responses are resumed", TIMEOUT, () -> resumed.size() == waited);
        assertThat(resumed).allSatisfy(each -> assertThat((Throwable) each).hasMessage("thrown"));
    }

    @Test
    void theEndOfTheApplicationEndsAllWaits() {
        partner.paced();
        CompletableFuture<String> waiting = partner.paced().toCompletableFuture();
        partner.paced(response);
        assertThat(resumed).isEmpty();
        close();
        assertThat(waiting).isCompletedExceptionally();
        assertThatThrownBy(waiting::join).isInstanceOf(CancellationException.class);
        assertThat(resumed).as("503").containsExactly("cancel");
    }

    @Test
    void theEndOfTheApplicationEndsTheWaitOfAThread() throws Exception {
        partner.blocking();
        CompletableFuture<String> waiting = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                waiting.complete(partner.blocking());
            } catch (RuntimeException e) {
                waiting.completeExceptionally(e);
            }
        });
        caller.start();
        Await.until("the call waits", TIMEOUT, () -> LockSupport.getBlocker(caller) == Sleeper.REAL);
        container.application().weir().endWaits();
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        assertThat(partner.calls()).isOne();
        assertThat(slots()).as("the slot is refunded").isOne();
    }

    @Test
    void aRejectionAfterAWaitFailsTheStageAndResumesTheResponse() {
        Quota none = TestQuota.of("window", "window", 1, 1, Duration.ofHours(1), 0, true, 1, 1, 1);
        CompletableFuture<Decision> decision = new CompletableFuture<>();
        LaterEntry entry = new LaterEntry(
                decision,
                null,
                decided -> new Entry(
                        Entry.Passage.DECIDED, decided, Entry.OPEN.binding(), null, false, CallEnds.Slots.NONE));
        LaterCall call = new LaterCall(entry, container.application().states(), decided -> {
            throw new RateLimitExceededException((Decision.Rejected) decided.decision());
        });
        CompletionStage<Object> stage = call.stage();
        call.response(new LaterCall.SuspendedResponse(response));
        assertThat(stage.toCompletableFuture()).isNotDone();
        decision.complete(new Decision.Rejected(Results.of(none)));
        assertThat(failure(stage)).isInstanceOf(RateLimitExceededException.class);
        assertThat(resumed).hasSize(1).allMatch(each -> each instanceof RateLimitExceededException);
    }

    @Test
    void anErrorAfterAWaitFailsTheStageAndResumesTheResponse() {
        CompletableFuture<Decision> decision = new CompletableFuture<>();
        LaterEntry entry = new LaterEntry(
                decision,
                null,
                decided -> new Entry(
                        Entry.Passage.DECIDED, decided, Entry.OPEN.binding(), null, false, CallEnds.Slots.NONE));
        LaterCall call = new LaterCall(entry, container.application().states(), decided -> {
            throw new StackOverflowError("recursion");
        });
        CompletionStage<Object> stage = call.stage();
        call.response(new LaterCall.SuspendedResponse(response));
        decision.complete(Decision.Allowed.UNLIMITED);
        assertThat(stage.toCompletableFuture()).isCompletedExceptionally();
        assertThat(failure(stage)).isInstanceOf(StackOverflowError.class);
        assertThat(resumed).hasSize(1).allMatch(each -> each instanceof StackOverflowError);
    }

    @Test
    void aRequestLeavesTheRestOfItsWaitToTheInterceptor() {
        for (Method method : List.of(method("paced"), method("paced", AsyncResponse.class))) {
            container.bean(RateLimiter.class).reset("paced", Identity.GLOBAL);
            container.bean(RateLimiter.class).acquire("paced", Identity.GLOBAL);
            FakeHttpCall call = new FakeHttpCall("/paced");
            assertThat(gate.enter(call, Partner.class, method)).isSameAs(Entry.WAITING);
            assertThat(slots()).isEqualTo(2);
            gate.leave(call.attachedState(), false);
            Await.until("the slot is refunded", TIMEOUT, () -> slots() == 1);
        }
        assertThat(partner.calls()).isZero();
    }

    @Test
    void theInterceptorContinuesTheWaitOfItsRequest() {
        container.bean(RateLimiter.class).acquire("paced", Identity.GLOBAL);
        FakeHttpCall call = new FakeHttpCall("/paced");
        container.inRequest(call, () -> {
            assertThat(gate.enter(call, Partner.class, method("paced"))).isSameAs(Entry.WAITING);
            CompletableFuture<String> waiting = partner.paced().toCompletableFuture();
            assertThat(waiting).isNotDone();
            assertThat(slots()).as("one charge").isEqualTo(2);
            gate.leave(call.attachedState(), false);
            assertThat(waiting).isCompletedExceptionally();
        });
        assertThat(partner.calls()).isZero();
    }

    @Test
    void aReloadBetweenTheFilterAndTheInterceptorDoesNotEndTheWait() {
        container.bean(RateLimiter.class).acquire("paced", Identity.GLOBAL);
        FakeHttpCall call = new FakeHttpCall("/paced");
        container.inRequest(call, () -> {
            assertThat(gate.enter(call, Partner.class, method("paced"))).isSameAs(Entry.WAITING);
            Policy policy =
                    container.application().weir().policies().policy("paced").orElseThrow();
            String endpoint =
                    gate.method(Partner.class, method("paced")).binding().endpoint();
            Binding.OfMethod reloaded = new Binding.OfMethod(
                    new Binding(endpoint, List.of(new Binding.PolicyCost(policy, 2))),
                    Map.of(),
                    Binding.Asynchrony.STAGE);
            LaterEntry later = gate.enterLater(reloaded, () -> null);
            assertThat(later.isDecided()).isFalse();
            assertThat(slots()).as("one charge").isEqualTo(2);
            gate.leave(call.attachedState(), false);
            assertThat(later.decision()).isCancelled();
        });
    }

    @Test
    void aMethodOfAClassThatIsNoManagedBeanWaitsOnItsThread() {
        assertThat(Binding.Asynchrony.of(method("paced"))).isEqualTo(Binding.Asynchrony.STAGE);
        assertThat(new MethodBindings((type, method) -> Entry.OPEN.binding(), type -> false)
                        .of(Partner.class, method("paced"))
                        .asynchrony())
                .isEqualTo(Binding.Asynchrony.NONE);
    }
}
