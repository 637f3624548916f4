// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.Await;
import jakarta.enterprise.context.ApplicationScoped;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** All ways in which the future of a call can end, by its caller and by its work: the slot and the charge follow the work. */
class FutureEndsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final long SEED = Long.getLong("weir.test.seed", 34);
    private static final int PERMITS = 1_000_000;
    private static final String[] POLICIES = {
        "ratelimit.policies.always.limit=" + PERMITS + "/1h",
        "ratelimit.policies.always.concurrency=1",
        "ratelimit.policies.always.concurrency-timeout=1h",
        "ratelimit.policies.always.key=global",
        "ratelimit.policies.success.limit=" + PERMITS + "/1h",
        "ratelimit.policies.success.concurrency=1",
        "ratelimit.policies.success.concurrency-timeout=1h",
        "ratelimit.policies.success.key=global",
        "ratelimit.policies.success.count=success",
        "ratelimit.policies.failure.limit=" + PERMITS + "/1h",
        "ratelimit.policies.failure.concurrency=1",
        "ratelimit.policies.failure.concurrency-timeout=1h",
        "ratelimit.policies.failure.key=global",
        "ratelimit.policies.failure.count=failure",
        "ratelimit.policies.patient.concurrency=1",
        "ratelimit.policies.patient.concurrency-timeout=1h",
        "ratelimit.policies.patient.max-wait=1h",
        "ratelimit.policies.patient.key=global",
    };

    private final Container container = Container.start(POLICIES, Work.class);
    private final Work work = container.bean(Work.class);
    private final RateLimiter limiter = container.bean(RateLimiter.class);

    @AfterEach
    void stop() {
        container.close();
    }

    /** The ways in which code can end a future that it has. */
    enum End {
        COMPLETE(future -> future.complete("caller")),
        FAIL(future -> future.completeExceptionally(new IllegalStateException("caller"))),
        CANCEL(future -> future.cancel(true)),
        OR_TIMEOUT(future -> future.orTimeout(1, TimeUnit.NANOSECONDS)),
        COMPLETE_ON_TIMEOUT(future -> future.completeOnTimeout("caller", 1, TimeUnit.NANOSECONDS)),
        COMPLETE_ASYNC(future -> future.completeAsync(() -> "caller")),
        COMPLETE_ASYNC_ON(future -> future.completeAsync(() -> "caller", Runnable::run)),
        OBTRUDE_VALUE(future -> future.obtrudeValue("caller")),
        OBTRUDE_EXCEPTION(future -> future.obtrudeException(new IllegalStateException("caller")));

        private final Consumer<CompletableFuture<String>> action;

        End(Consumer<CompletableFuture<String>> action) {
            this.action = action;
        }

        /** Ends the future, and returns when it has ended. */
        void of(CompletableFuture<String> future) {
            action.accept(future);
            Await.until(this + " ends the future", TIMEOUT, future::isDone);
        }
    }

    /** The futures that a method can return. */
    enum Kind {
        PLAIN(kept -> kept),
        DEPENDENT(kept -> kept.thenApply(value -> value)),
        MINIMAL(kept -> kept.minimalCompletionStage()),
        OWN(kept -> Own.of(kept, new Own())),
        OWN_WITH_SUCCESSORS(kept -> Own.of(kept, new OwnWithSuccessors())),
        READ_ONLY(kept -> Own.of(kept, new ReadOnly()));

        private final Function<CompletableFuture<String>, CompletionStage<String>> form;

        Kind(Function<CompletableFuture<String>, CompletionStage<String>> form) {
            this.form = form;
        }
    }

    /** A future of an application. Its dependent stages are plain ones. */
    public static class Own extends CompletableFuture<String> {
        static Own of(CompletableFuture<String> kept, Own own) {
            kept.whenComplete((value, failure) -> own.end(value, failure));
            return own;
        }

        void end(String value, Throwable failure) {
            if (failure == null) {
                super.complete(value);
            } else {
                super.completeExceptionally(failure);
            }
        }
    }

    /** A future of an application whose dependent stages are of its class. */
    public static class OwnWithSuccessors extends Own {
        @Override
        @SuppressWarnings("unchecked")
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return (CompletableFuture<U>) new OwnWithSuccessors();
        }
    }

    /** A future that only its own code can end. */
    public static class ReadOnly extends Own {
        @Override
        public boolean complete(String value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            throw new UnsupportedOperationException();
        }

        @Override
        @SuppressWarnings("unchecked")
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return (CompletableFuture<U>) new ReadOnly();
        }
    }

    @ApplicationScoped
    public static class Work {
        @RateLimit("always")
        public CompletionStage<String> always(CompletionStage<String> stage) {
            return stage;
        }

        @RateLimit("success")
        public CompletionStage<String> success(CompletionStage<String> stage) {
            return stage;
        }

        @RateLimit("failure")
        public CompletionStage<String> failure(CompletionStage<String> stage) {
            return stage;
        }

        @RateLimit("patient")
        public CompletionStage<String> patient(CompletionStage<String> stage) {
            return stage;
        }

        @RateLimit("always")
        public Own own(Own own) {
            return own;
        }
    }

    private CompletionStage<String> call(String policy, CompletionStage<String> stage) {
        return switch (policy) {
            case "always" -> work.always(stage);
            case "success" -> work.success(stage);
            default -> work.failure(stage);
        };
    }

    private long free(String policy) {
        List<Quota> quotas = limiter.peek(policy, Identity.GLOBAL);
        return quotas.get(quotas.size() - 1).remaining();
    }

    private long charged(String policy) {
        return PERMITS - limiter.peek(policy, Identity.GLOBAL).get(0).remaining();
    }

    private static <T> T any(Random random, List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    private static boolean succeeded(CompletionStage<String> stage) {
        return !stage.toCompletableFuture().isCompletedExceptionally();
    }

    private static List<End> endsOf(Kind kind) {
        // The methods of the caller fail for a read-only future, and their effects by other ways do not.
        return kind == Kind.READ_ONLY
                ? List.of(End.CANCEL, End.COMPLETE_ASYNC, End.OBTRUDE_VALUE, End.OBTRUDE_EXCEPTION)
                : List.of(End.values());
    }

    @Test
    @Tag("field")
    void slotAndChargeFollowTheWorkHoweverAFutureEnds() {
        System.out.printf("futures: -Dweir.test.seed=%d%n", SEED);
        Random random = new Random(SEED);
        long[] charged = new long[3];
        List<String> policies = List.of("always", "success", "failure");
        for (int call = 0; call < 600; call++) {
            String policy = any(random, policies);
            Kind kind = any(random, List.of(Kind.values()));
            End byCaller = any(random, endsOf(kind));
            End byWork = any(random, List.of(End.values()));
            boolean callerEnds = random.nextInt(3) > 0;
            String what = "seed %d, call %d: %s, %s, caller %s, work %s"
                    .formatted(SEED, call, policy, kind, callerEnds ? byCaller : "waits", byWork);
            CompletableFuture<String> kept = new CompletableFuture<>();
            CompletionStage<String> stage = kind.form.apply(kept);
            CompletionStage<String> returned = call(policy, stage);
            assertThat(free(policy)).as(what).isZero();
            if (callerEnds) {
                byCaller.of(returned.toCompletableFuture());
                boolean reached = kind != Kind.MINIMAL;
                Await.until(what + ": free", TIMEOUT, () -> free(policy) == (reached ? 1 : 0));
                assertThat(stage.toCompletableFuture().isDone()).as(what).isEqualTo(reached);
            }
            boolean succeeded = false;
            if (stage.toCompletableFuture().isDone()) {
                succeeded = succeeded(stage);
                byWork.of(kept);
            } else {
                byWork.of(kept);
                succeeded = succeeded(stage);
            }
            Await.until(what + ": free", TIMEOUT, () -> free(policy) == 1);
            Await.until(
                    what + ": ended",
                    TIMEOUT,
                    () -> returned.toCompletableFuture().isDone());
            charged[policies.indexOf(policy)] +=
                    policy.equals("always") || policy.equals("success") == succeeded ? 1 : 0;
            long expected = charged[policies.indexOf(policy)];
            Await.until(what + ": charged", TIMEOUT, () -> charged(policy) == expected);
        }
    }

    @Test
    @Tag("field")
    void slotAndChargeFollowTheWorkOfACallThatHasWaited() {
        System.out.printf("waits: -Dweir.test.seed=%d%n", SEED);
        Random random = new Random(SEED);
        for (int round = 0; round < 40; round++) {
            CompletableFuture<String> holder = new CompletableFuture<>();
            work.patient(holder);
            int calls = 1 + random.nextInt(6);
            String what = "seed %d, round %d".formatted(SEED, round);
            List<Waiting> waiting = IntStream.range(0, calls)
                    .mapToObj(call -> new Waiting(random))
                    .toList();
            waiting.stream().filter(call -> call.duringWait).forEach(call -> call.byCaller.of(call.returned()));
            holder.complete("held");
            for (Waiting call : waiting) {
                if (!call.duringWait) {
                    Await.until(what + ": the call has its turn", TIMEOUT, () -> call.kept.getNumberOfDependents() > 0);
                    assertThat(free("patient")).as(what).isZero();
                    (call.callerEnds ? call.byCaller : call.byWork).of(call.callerEnds ? call.returned() : call.kept);
                    Await.until(what + ": the work has ended", TIMEOUT, call.kept::isDone);
                    Await.until(what + ": the call has ended", TIMEOUT, call.returned()::isDone);
                }
            }
            Await.until(what + ": no call has the slot", TIMEOUT, () -> free("patient") == 1);
            assertThat(waiting)
                    .filteredOn(call -> call.duringWait)
                    .allSatisfy(call -> assertThat(call.kept)
                            .as("%s: the method has not run", what)
                            .isNotDone());
        }
    }

    /** A call that waits for the slot. */
    private final class Waiting {
        private final CompletableFuture<String> kept = new CompletableFuture<>();
        private final CompletionStage<String> stage = work.patient(kept);
        private final End byCaller;
        private final End byWork;
        private final boolean duringWait;
        private final boolean callerEnds;

        Waiting(Random random) {
            byCaller = any(random, List.of(End.values()));
            byWork = any(random, List.of(End.values()));
            duringWait = random.nextBoolean();
            callerEnds = random.nextBoolean();
        }

        CompletableFuture<String> returned() {
            return stage.toCompletableFuture();
        }
    }

    @ParameterizedTest
    @EnumSource(End.class)
    @Tag("field")
    void anAbandonedAcquireNeitherKeepsNorReceivesASlot(End end) {
        Decision held = limiter.acquire("patient", Identity.GLOBAL);
        CompletableFuture<Decision> abandoned =
                limiter.acquireAsync("patient", Identity.GLOBAL).toCompletableFuture();
        CompletableFuture<Decision> next =
                limiter.acquireAsync("patient", Identity.GLOBAL).toCompletableFuture();
        assertThat(abandoned).isNotDone();
        end(abandoned, end);
        limiter.release(held.receipt());
        limiter.release(next.join().receipt());
        Await.until("the slot is free", TIMEOUT, () -> free("patient") == 1);
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // the values of an abandoned future have no type
    private static void end(CompletableFuture<?> future, End end) {
        end.of((CompletableFuture) future);
    }

    @Test
    void theNextCallOfAChainGetsTheSlot() {
        for (UnaryOperator<CompletableFuture<String>> kind : List.<UnaryOperator<CompletableFuture<String>>>of(
                kept -> kept, kept -> Own.of(kept, new OwnWithSuccessors()))) {
            CompletableFuture<String> first = new CompletableFuture<>();
            CompletableFuture<String> second = new CompletableFuture<>();
            CompletionStage<String> chain = work.always(kind.apply(first)).thenCompose(value -> work.always(second));
            first.complete("first");
            second.complete("second");
            assertThat(chain.toCompletableFuture()).isCompletedWithValue("second");
        }
    }

    @ParameterizedTest
    @CsvSource({"always", "success", "failure"})
    @Tag("field")
    void theCallerSeesTheOutcomeOfTheWork(String policy) {
        IllegalStateException failure = new IllegalStateException("work");
        CompletableFuture<String> failing = new CompletableFuture<>();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        call(policy, failing).whenComplete((value, failed) -> seen.set(failed));
        failing.completeExceptionally(failure);
        assertThat(seen.get()).as("not wrapped").isSameAs(failure);

        CompletableFuture<String> canceled = new CompletableFuture<>();
        CompletableFuture<String> returned = call(policy, canceled).toCompletableFuture();
        canceled.cancel(false);
        assertThat(returned.isCancelled()).isTrue();
        assertThatThrownBy(returned::join).isInstanceOf(CancellationException.class);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void endedWorkIsReturnedItself(Kind kind) {
        CompletionStage<String> ended = kind.form.apply(CompletableFuture.completedFuture("ended"));
        Object returned = work.always(ended);
        assertThat(returned).isSameAs(ended);
        assertThat(free("always")).isEqualTo(1);
    }

    @Test
    @Tag("field")
    void aMethodCanReturnAClassOfItsOwn() {
        CompletableFuture<String> kept = new CompletableFuture<>();
        Own own = Own.of(kept, new Own());
        assertThat(work.own(own)).isSameAs(own);
        assertThat(free("always")).isZero();
        own.orTimeout(1, TimeUnit.NANOSECONDS);
        assertThatThrownBy(own::join).isInstanceOf(CompletionException.class);
        Await.until("the slot is free", TIMEOUT, () -> free("always") == 1);

        OwnWithSuccessors other = new OwnWithSuccessors();
        assertThat(work.own(other)).isInstanceOf(OwnWithSuccessors.class);
        other.complete("done");
        assertThat(free("always")).isEqualTo(1);
    }

    /** A stage of a library need not be a future. */
    @Test
    @SuppressWarnings("unchecked") // the interface is that of the proxy
    void aStageWithoutAFutureReleasesItsSlot() {
        CompletableFuture<String> kept = new CompletableFuture<>();
        CompletionStage<String> foreign = (CompletionStage<String>) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {CompletionStage.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("toCompletableFuture")) {
                        throw new UnsupportedOperationException();
                    }
                    return method.invoke(kept, arguments);
                });
        CompletionStage<String> returned = work.always(foreign);
        returned.toCompletableFuture().cancel(false);
        assertThat(free("always")).isZero();
        kept.complete("done");
        assertThat(free("always")).isEqualTo(1);
    }
}
