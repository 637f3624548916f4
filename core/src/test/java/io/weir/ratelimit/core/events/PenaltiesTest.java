// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.core.engine.Fixtures;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class PenaltiesTest {
    private static final PenaltyRule RULE =
            new PenaltyRule(3, Duration.ofMinutes(1), Duration.ofMinutes(15), 2, Duration.ofDays(1));

    private final AtomicLong micros = new AtomicLong(1_000_000);
    private final LocalBackend local = new LocalBackend(100, micros::get);
    private final KnownBlocks blocks = new KnownBlocks(System::nanoTime);
    private final List<PenaltyImposed> direct = new ArrayList<>();
    private final List<PenaltyImposed> observed = new ArrayList<>();

    private static Policy policy(String name, Policy.Mode mode, long permits, Optional<PenaltyRule> penalty) {
        return Policy.builder(
                        new PolicyLimits(name, List.of(Limit.of(Algorithm.FIXED_WINDOW, permits, Duration.ofHours(1)))),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .mode(mode)
                .penalty(penalty)
                .build();
    }

    private static Binding penalized(long permits) {
        return Fixtures.binding(1, policy("api", Policy.Mode.ENFORCE, permits, Optional.of(RULE)));
    }

    private RateLimitEngine engine(RateLimitBackend backend, Executor executor) {
        return engine(backend, () -> executor);
    }

    private RateLimitEngine engine(RateLimitBackend backend, Supplier<Executor> executor) {
        return RateLimitEngine.on(Fixtures.withFallback(backend, Fixtures.health(backend)))
                .rejections(new Penalties(
                        backend,
                        new KeyMasker(Optional.empty()),
                        executor,
                        List.of(direct::add),
                        List.of(observed::add),
                        blocks))
                .build();
    }

    private static Decision call(RateLimitEngine engine, Binding binding, String user) {
        CallContext call = TestCall.byPrincipal(user);
        return engine.decide(binding, call, null);
    }

    @Test
    void manyRejectionsBlockTheKeyOnceAndAreReported() {
        RateLimitEngine engine = engine(local, Runnable::run);
        Binding binding = penalized(2);
        for (int call = 0; call < 2; call++) {
            assertThat(call(engine, binding, "ann").allowed()).isTrue();
        }
        for (int call = 0; call < 3; call++) {
            assertThat(((Decision.Rejected) call(engine, binding, "ann")).blocked())
                    .isFalse();
        }
        Decision.Rejected blocked = (Decision.Rejected) call(engine, binding, "ann");
        assertThat(blocked.blocked()).isTrue();
        assertThat(blocked.decisiveQuota().blockedFor()).isEqualTo(Duration.ofMinutes(15));
        for (int call = 0; call < 10; call++) {
            call(engine, binding, "ann");
        }
        assertThat(call(engine, binding, "bob").allowed()).isTrue();
        assertThat(direct).hasSize(1).isEqualTo(observed);
        assertThat(blocks.list()).singleElement().satisfies(block -> {
            assertThat(block.storedKey())
                    .isEqualTo(new IdentityEncoder(Optional.empty()).encode(Identity.principal("ann")));
            assertThat(block.penalty()).isOne();
            assertThat(block.length()).isEqualTo(Duration.ofMinutes(15));
        });
        PenaltyImposed event = direct.get(0);
        assertThat(event.policy()).isEqualTo("api");
        assertThat(event.endpoint()).isEqualTo("Search.find");
        assertThat(event.key()).isNotEmpty().doesNotContain("ann");
        assertThat(event.duration()).isEqualTo(Duration.ofMinutes(15));
        assertThat(event.number()).isEqualTo(1);
    }

    @Test
    void theNextPenaltyIsLonger() {
        RateLimitEngine engine = engine(local, Runnable::run);
        Binding binding = penalized(0);
        for (int call = 0; call < 4; call++) {
            call(engine, binding, "ann");
        }
        micros.addAndGet(Duration.ofMinutes(15).toNanos() / 1_000);
        for (int call = 0; call < 4; call++) {
            call(engine, binding, "ann");
        }
        assertThat(direct)
                .extracting(PenaltyImposed::duration)
                .containsExactly(Duration.ofMinutes(15), Duration.ofMinutes(30));
        assertThat(direct).extracting(PenaltyImposed::number).containsExactly(1, 2);
    }

    @Test
    void onlyThePolicyThatRejectedIsPenalized() {
        RateLimitEngine engine = engine(local, Runnable::run);
        Binding binding = Fixtures.binding(
                1,
                policy("wide", Policy.Mode.ENFORCE, 100, Optional.of(RULE)),
                policy("narrow", Policy.Mode.ENFORCE, 0, Optional.empty()));
        for (int call = 0; call < 10; call++) {
            assertThat(((Decision.Rejected) call(engine, binding, "ann")).violatedPolicies())
                    .containsExactly("narrow");
        }
        assertThat(direct).isEmpty();
    }

    @Test
    void aPolicyInShadowModePenalizesNoKey() {
        RateLimitEngine engine = engine(local, Runnable::run);
        Binding shadow = Fixtures.binding(1, policy("api", Policy.Mode.SHADOW, 0, Optional.of(RULE)));
        for (int call = 0; call < 10; call++) {
            assertThat(call(engine, shadow, "ann").allowed()).isTrue();
        }
        assertThat(direct).isEmpty();
    }

    @Test
    void aPolicyWithoutARuleCountsNothing() {
        RateLimitEngine engine = engine(local, Runnable::run);
        Binding binding = Fixtures.binding(1, policy("api", Policy.Mode.ENFORCE, 0, Optional.empty()));
        for (int call = 0; call < 10; call++) {
            assertThat(((Decision.Rejected) call(engine, binding, "ann")).blocked())
                    .isFalse();
        }
    }

    /** Fills a backend with keys that have spent one permit each, until the approximate counts of every other key are one. */
    private void flood(RateLimitEngine engine) {
        Binding flooded = Fixtures.binding(1, policy("api", Policy.Mode.ENFORCE, 1, Optional.empty()));
        for (int user = 0; user < 20_000; user++) {
            call(engine, flooded, "user" + user);
        }
    }

    private void isRejectedWithoutAPenalty(RateLimitEngine engine, long permits, String user) {
        for (int call = 0; call < 10; call++) {
            assertThat(((Decision.Rejected) call(engine, penalized(permits), user)).blocked())
                    .isFalse();
        }
        assertThat(direct).isEmpty();
    }

    @Test
    void aRejectionByApproximateCountsIsNotCounted() {
        RateLimitEngine engine = engine(new LocalBackend(2, micros::get), Runnable::run);
        flood(engine);
        isRejectedWithoutAPenalty(engine, 1, "ann");
        for (int call = 0; call < 3; call++) {
            call(engine, penalized(1), "user0");
            call(engine, penalized(0), "bob");
        }
        assertThat(blocks.list())
                .as("a key with a place, and a limit of 0 permits")
                .hasSize(2);
    }

    @Test
    void aRejectionByApproximateCountsIsNotCountedAfterTheKeyHasFoundAPlace() {
        RateLimitEngine engine = engine(new LocalBackend(1, micros::get), Runnable::run);
        Policy second = Policy.builder(
                        new PolicyLimits("second", List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofSeconds(1)))),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .build();
        call(engine, Fixtures.binding(1, second), "old");
        flood(engine);
        micros.addAndGet(1_000_000);
        assertThat(call(engine, penalized(2), "ann").allowed()).isTrue();
        isRejectedWithoutAPenalty(engine, 2, "ann");

        micros.addAndGet(Duration.ofHours(1).toNanos() / 1_000);
        for (int call = 0; call < 5; call++) {
            call(engine, penalized(2), "ann");
        }
        assertThat(direct).hasSize(1);
    }

    @Test
    void aPenaltyIsReportedAlthoughNoThreadIsAvailable() {
        RateLimitEngine engine = engine(local, task -> {
            throw new RejectedExecutionException();
        });
        for (int call = 0; call < 4; call++) {
            call(engine, penalized(0), "ann");
        }
        assertThat(direct).hasSize(1);
        assertThat(observed).isEmpty();
    }

    /** A backend that rejects all calls and completes counts when the test does. */
    private static final class SlowBackend extends FakeBackend implements BlocksKeys {
        final List<Long> counts = new ArrayList<>();
        CompletableFuture<Optional<BlocksKeys.Penalty>> count = new CompletableFuture<>();

        SlowBackend() {
            rejects = true;
        }

        @Override
        public CompletionStage<Optional<BlocksKeys.Penalty>> countRejections(
                PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
            counts.add(rejections);
            count = new CompletableFuture<>();
            return count;
        }

        @Override
        public CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
            return CompletableFuture.completedStage(duration);
        }

        @Override
        public CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
            return CompletableFuture.completedStage(null);
        }
    }

    @Test
    void rejectionsDuringACountAreCountedTogether() {
        SlowBackend backend = new SlowBackend();
        RateLimitEngine engine = engine(backend, Runnable::run);
        for (int call = 0; call < 8; call++) {
            call(engine, penalized(5), "ann");
        }
        assertThat(backend.counts).containsExactly(1L);
        backend.count.complete(Optional.empty());
        assertThat(backend.counts).containsExactly(1L, 7L);
        backend.count.complete(Optional.of(new BlocksKeys.Penalty(Duration.ofMinutes(15), 1)));
        assertThat(direct).hasSize(1);
        call(engine, penalized(5), "ann");
        assertThat(backend.counts).containsExactly(1L, 7L, 1L);
    }

    @Test
    void theExecutorIsThatOfTheThreadOfTheRejectedCall() throws InterruptedException {
        SlowBackend backend = new SlowBackend();
        List<Thread> takenOn = new ArrayList<>();
        RateLimitEngine engine = engine(backend, () -> {
            takenOn.add(Thread.currentThread());
            return Runnable::run;
        });
        call(engine, penalized(5), "ann");
        call(engine, penalized(5), "ann");
        for (int number = 1; number <= 2; number++) {
            Optional<BlocksKeys.Penalty> penalty = Optional.of(new BlocksKeys.Penalty(Duration.ofMinutes(15), number));
            Thread ofReply = new Thread(() -> backend.count.complete(penalty));
            ofReply.start();
            ofReply.join();
        }
        assertThat(observed).hasSize(2);
        assertThat(takenOn).isNotEmpty().containsOnly(Thread.currentThread());
    }

    @Test
    void rejectionsOfAFailedCountAreDroppedAndLaterOnesCount() {
        SlowBackend backend = new SlowBackend();
        RateLimitEngine engine = engine(backend, Runnable::run);
        call(engine, penalized(5), "ann");
        backend.count.completeExceptionally(FakeBackend.down(BackendException.Reason.TIMEOUT));
        call(engine, penalized(5), "ann");
        assertThat(backend.counts).containsExactly(1L, 1L);
    }

    @Test
    void theNumberOfKeysWithACountInFlightIsBounded() {
        SlowBackend backend = new SlowBackend();
        RateLimitEngine engine = engine(backend, Runnable::run);
        for (int user = 0; user < Penalties.MAX_KEYS + 5; user++) {
            call(engine, penalized(5), "user" + user);
        }
        assertThat(backend.counts).hasSize(Penalties.MAX_KEYS);
    }

    @Test
    void aBackendWithoutBlocksImposesNoPenalties() {
        FakeBackend backend = new FakeBackend();
        backend.rejects = true;
        RateLimitEngine engine = engine(backend, Runnable::run);
        for (int call = 0; call < 5; call++) {
            assertThat(call(engine, penalized(5), "ann").allowed()).isFalse();
        }
        assertThat(direct).isEmpty();
    }
}
