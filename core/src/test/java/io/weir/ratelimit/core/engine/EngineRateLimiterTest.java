// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.Tiers;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineRateLimiterTest {
    private static final Decision TIMED_OUT = new Decision.Degraded(FailureMode.CLOSED, false, "timeout");

    private final LogCapture log = new LogCapture();
    private final FakeBackend backend = new FakeBackend();
    private final List<String> endpoints = new ArrayList<>();
    private final Deque<Runnable> executor = new ArrayDeque<>();
    private final RateLimiter limiter = new EngineRateLimiter(
            engine(backend, event -> endpoints.add(event.endpoint())),
            () -> Map.of(
                    "mail",
                    policy("mail", "ip", 3, FailureMode.OPEN),
                    "closed",
                    policy("closed", "ip", 1, FailureMode.CLOSED)),
            () -> executor::add,
            Optional::empty);

    @AfterEach
    void closeLog() {
        log.close();
    }

    @Test
    void spendsTheCostOfThePolicyOrOfTheCall() {
        assertThat(limiter.acquire("mail", "tenant").allowed()).isTrue();
        limiter.acquire("mail", "tenant", 5);
        limiter.acquire("mail", Identity.principal("alice"));
        limiter.acquire("mail", Identity.address("203.0.113.7").and(Identity.principal("alice")), 7);
        assertThat(backend.calls)
                .containsExactly(
                        "mail k.tenant 3", "mail k.tenant 5", "mail p.alice 3", "mail i.203.0.113.7+p.alice 7");
        assertThat(endpoints).hasSize(4).containsOnly("RateLimiter");
    }

    @Test
    void chargesEveryCall() {
        limiter.acquire("mail", "tenant");
        limiter.acquire("mail", "tenant");
        assertThat(backend.calls).containsExactly("mail k.tenant 3", "mail k.tenant 3");
    }

    @Test
    void rejectsNoReceipt() {
        for (Consumer<Receipt> operation : List.<Consumer<Receipt>>of(
                limiter::release,
                limiter::refund,
                receipt -> limiter.settle(receipt, 1),
                receipt -> limiter.settleAsync(receipt, 1))) {
            assertThatThrownBy(() -> operation.accept(null))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("receipt");
        }
    }

    @Test
    void callsTheBackendForOperations() {
        assertThat(limiter.peek("mail", "tenant")).hasSize(1);
        Receipt receipt = ((Decision.Allowed) limiter.acquire("mail", "tenant")).receipt();
        limiter.refund(receipt);
        limiter.refund("mail", "tenant", 2);
        limiter.reset("mail", Identity.principal("alice"));
        assertThat(backend.calls)
                .containsExactly(
                        "peek mail k.tenant 3",
                        "mail k.tenant 3",
                        "refund receipt 2",
                        "refund mail k.tenant 2",
                        "reset mail p.alice");
        assertThat(endpoints).as("only an acquire is a decision").hasSize(1);
    }

    @Test
    void aResetEndsTheUseOfATierToo() {
        PolicyLimits gold =
                new PolicyLimits("api", "gold", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 2, Duration.ofHours(1))));
        Policy api = Policy.builder(
                        new PolicyLimits("api", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 1, Duration.ofMinutes(1)))),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .tiers(new Tiers("header:x-plan", call -> Optional.of("gold"), Map.of("gold", gold)))
                .build();
        RateLimitEngine engine = engine(new LocalBackend(10, new ManualTime()));
        RateLimiter local =
                new EngineRateLimiter(engine, () -> Map.of("api", api), () -> Runnable::run, Optional::empty);
        Binding one = Fixtures.binding(1, api);
        for (int round = 0; round < 2; round++) {
            assertThat(engine.decide(one, TestCall.byPrincipal("alice"), null).allowed())
                    .isTrue();
            assertThat(engine.decide(one, TestCall.byPrincipal("alice"), null).allowed())
                    .isTrue();
            assertThat(engine.decide(one, TestCall.byPrincipal("alice"), null).allowed())
                    .isFalse();
            assertThat(local.acquire("api", Identity.principal("alice")).allowed())
                    .isTrue();
            local.reset("api", Identity.principal("alice"));
        }
    }

    private static List<Consumer<RateLimiter>> operationsOnAnUnknownPolicy() {
        return List.of(
                limiter -> limiter.acquire("mial", "a"),
                limiter -> limiter.acquire("mial", "a", 2),
                limiter -> limiter.acquireAsync("mial", "a"),
                limiter -> limiter.acquireAsync("mial", "a", 2),
                limiter -> limiter.peek("mial", "a"),
                limiter -> limiter.refund("mial", "a", 2),
                limiter -> limiter.reset("mial", "a"));
    }

    @Test
    void theMessageForAnUnknownPolicyDoesNotNameOtherPolicies() {
        for (Consumer<RateLimiter> operation : operationsOnAnUnknownPolicy()) {
            assertThatThrownBy(() -> operation.accept(limiter))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("there is no policy \"mial\"");
        }
        assertThat(backend.calls).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void rejectsACostBelowOne(long cost) {
        assertThatThrownBy(() -> limiter.acquire("mail", "a", cost)).hasMessage("cost must be at least 1");
        assertThatThrownBy(() -> limiter.acquireAsync("mail", "a", cost)).hasMessage("cost must be at least 1");
        assertThatThrownBy(() -> limiter.refund("mail", "a", cost)).hasMessage("cost must be at least 1");
    }

    @Test
    void rejectsABlankKey() {
        assertThatThrownBy(() -> limiter.acquire("mail", " "))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the value must not be blank");
    }

    @Test
    void aFailingBackendDegradesDecisionsAndFailsOtherOperations() {
        Receipt receipt = ((Decision.Allowed) limiter.acquire("mail", "a")).receipt();
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        assertThat(limiter.acquire("mail", "a").allowed()).isTrue();
        assertThat(limiter.acquire("closed", "a")).isEqualTo(TIMED_OUT);
        List<Consumer<RateLimiter>> others = List.of(
                any -> any.peek("mail", "a"),
                any -> any.refund(receipt),
                any -> any.refund("mail", "a", 1),
                any -> any.reset("mail", "a"));
        for (Consumer<RateLimiter> operation : others) {
            assertThatThrownBy(() -> operation.accept(limiter))
                    .asInstanceOf(InstanceOfAssertFactories.type(RateLimitUnavailableException.class))
                    .extracting(RateLimitUnavailableException::reason)
                    .isEqualTo("timeout");
        }
    }

    @Test
    void theReceiptOfAnOutageNeedsNoBackend() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        Receipt receipt = limiter.acquire("mail", "a").orThrow().receipt();
        assertThatCode(() -> {
                    limiter.refund(receipt);
                    limiter.settle(receipt, 0);
                })
                .doesNotThrowAnyException();
    }

    @Test
    void completesAnAsynchronousCallOnTheExecutor() {
        backend.stage = new CompletableFuture<>();
        CompletableFuture<Decision> decision = limiter.acquireAsync("mail", "a").toCompletableFuture();
        assertThat(executor).isEmpty();
        backend.stage.toCompletableFuture().complete(Decision.Allowed.UNLIMITED);
        assertThat(decision).as("not on the thread of the backend").isNotDone();
        assertThat(endpoints).isEmpty();
        executor.remove().run();
        assertThat(decision).isCompletedWithValue(Decision.Allowed.UNLIMITED);
        assertThat(endpoints).containsExactly("RateLimiter");
    }

    private static List<Throwable> timeouts() {
        return List.of(FakeBackend.down(Reason.TIMEOUT), new CompletionException(FakeBackend.down(Reason.TIMEOUT)));
    }

    @Test
    void anAsynchronousFailureDegradesTheDecision() {
        for (Throwable failure : timeouts()) {
            backend.stage = CompletableFuture.failedStage(failure);
            CompletableFuture<Decision> decision =
                    limiter.acquireAsync("closed", "a", 2).toCompletableFuture();
            executor.remove().run();
            assertThat(decision).isCompletedWithValue(TIMED_OUT);
        }
        backend.stage = CompletableFuture.failedStage(new IllegalStateException("x"));
        CompletableFuture<Decision> decision =
                limiter.acquireAsync("closed", "a").toCompletableFuture();
        executor.remove().run();
        assertThat(decision).isCompletedWithValue(new Decision.Degraded(FailureMode.CLOSED, false, "backend-error"));
    }

    @Test
    void anExceptionOfAnAsynchronousCallDegradesTheDecision() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        CompletableFuture<Decision> decision =
                limiter.acquireAsync("closed", "a").toCompletableFuture();
        executor.remove().run();
        assertThat(decision).isCompletedWithValue(TIMED_OUT);
        assertThat(endpoints).containsExactly("RateLimiter");
    }

    @Test
    void blocksAndUnblocksAKey() {
        RateLimiter local = inProcess();
        Identity bot = Identity.principal("bot");
        for (Function<Duration, Duration> block : List.<Function<Duration, Duration>>of(
                duration -> local.block("mail", bot, duration),
                duration -> local.blockAsync("mail", bot, duration)
                        .toCompletableFuture()
                        .join())) {
            assertThat(block.apply(Duration.ofMinutes(1))).isEqualTo(Duration.ofMinutes(1));
            assertThat(local.acquire("mail", bot).allowed()).isFalse();
            assertThat(local.acquire("mail", "another").allowed()).isTrue();
            local.unblock("mail", bot);
            assertThat(local.acquire("mail", bot).allowed()).isTrue();
        }
    }

    @Test
    void aBlockHasALegalRange() {
        RateLimiter local = inProcess();
        Identity bot = Identity.principal("bot");
        assertThatThrownBy(() -> local.block("mail", bot, Duration.ofDays(10_000)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> local.blockAsync("mail", bot, Duration.ofDays(10_000)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(local.acquire("mail", bot).allowed()).isTrue();
    }

    @Test
    void settlesWithoutAWaitingThread() {
        RateLimiter local = inProcess();
        Decision.Allowed allowed = (Decision.Allowed) local.acquire("mail", "tenant", 30);
        assertThat(local.settleAsync(allowed.receipt(), 10)).succeedsWithin(Duration.ofSeconds(20));
        assertThat(local.peek("mail", Identity.of("tenant")))
                .singleElement()
                .extracting(Quota::remaining)
                .isEqualTo(90L);
    }

    @Test
    void peeksAtTheQuotaOfTheCallerOfTheRequest() {
        RateLimiter local = inProcess(TestCall.byPrincipal("alice"));
        local.acquire("mail", Identity.principal("alice"), 4);
        assertThat(local.peek("user"))
                .singleElement()
                .satisfies(quota -> assertThat(quota.remaining()).isEqualTo(100));
        local.acquire("user", Identity.principal("alice"), 4);
        assertThat(local.peek("user"))
                .singleElement()
                .satisfies(quota -> assertThat(quota.remaining()).isEqualTo(96));
    }

    private static RateLimiter inProcess() {
        return inProcess(null);
    }

    private static RateLimiter inProcess(@Nullable CallContext caller) {
        return new EngineRateLimiter(
                engine(new LocalBackend(10, new ManualTime())),
                () -> Map.of(
                        "mail", policy("mail", "ip", 1, FailureMode.OPEN),
                        "user", policy("user", "principal", 1, FailureMode.OPEN)),
                () -> Runnable::run,
                () -> Optional.ofNullable(caller));
    }
}
