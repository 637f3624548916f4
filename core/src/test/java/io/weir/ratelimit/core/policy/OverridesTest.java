// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.PolicySource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OverridesTest {
    private static final Policy API =
            ReadPolicies.of("ratelimit.policies.api.limit=100/1m").policy("api");
    private static final Policy BUCKET = ReadPolicies.of(
                    "ratelimit.policies.api.limit=100/1m",
                    "ratelimit.policies.api.algorithm=token-bucket",
                    "ratelimit.policies.api.max-wait=2s")
            .policy("api");
    private static final Identity ANN = Identity.principal("ann");
    private static final Duration FRESH = Duration.ofSeconds(5);

    private final AtomicLong nanos = new AtomicLong(-17);
    private final KeyMasker masker = new KeyMasker(Optional.empty());
    private final Map<String, LimitOverride> table = new HashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private final Deque<Runnable> queue = new ArrayDeque<>();
    private Executor executor = Runnable::run;
    private RuntimeException failure;
    private LogCapture log;

    private final PolicySource source = new PolicySource() {
        @Override
        public Set<String> policies() {
            return Set.of("api");
        }

        @Override
        public Optional<LimitOverride> limits(String policy, Identity key) {
            String who = key.parts().get(0).value();
            asked.add(who);
            if (failure != null) {
                throw failure;
            }
            return Optional.ofNullable(table.get(who));
        }
    };

    private final Overrides overrides = overrides(Duration.ofMinutes(1), source);

    private Overrides overrides(Duration deadline, PolicySource... sources) {
        Problems problems = new Problems();
        Overrides made = new Overrides(
                OverrideSources.of(List.of(sources), problems),
                new LookupTimes(FRESH, deadline, nanos::get),
                () -> executor,
                masker,
                (policy, failed) -> failures.add(policy + " " + failed));
        assertThat(problems.found()).isEmpty();
        return made;
    }

    @BeforeEach
    void openLog() {
        log = new LogCapture();
    }

    @AfterEach
    void closeLog() {
        log.close();
    }

    private Optional<PolicyLimits> ask(Policy policy, Identity key) {
        String stored = key.parts().get(0).value();
        overrides.await(policy, key, stored);
        return overrides.of(policy, key, stored);
    }

    private String limits(Policy policy, Identity key) {
        return ask(policy, key).map(Object::toString).orElse("none");
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    @Test
    void anOverrideHasTheAlgorithmAndTheMaxWaitOfThePolicy() {
        table.put("ann", new LimitOverride("7/1s, 20/1h", OptionalLong.of(9)));
        assertThat(limits(BUCKET, ANN))
                .isEqualTo(
                        "api/override[7/1s token-bucket burst 9 max-wait 2s, 20/1h token-bucket burst 9 max-wait 2s]");
        assertThat(limits(BUCKET, Identity.principal("ben"))).isEqualTo("none");
    }

    @Test
    void limitsThatTheApplicationCannotEvaluateAreAnInvalidAnswer() {
        Overrides checked = new Overrides(
                OverrideSources.of(List.of(source), new Problems())
                        .checkedBy((policy, limits) -> limits.hasConcurrency()
                                ? List.of(new ConfigurationProblem("WEIR-134", "a.place", "3", "no slots", "none"))
                                : List.of()),
                new LookupTimes(FRESH, Duration.ofMinutes(1), nanos::get),
                () -> executor,
                masker,
                (policy, failed) -> failures.add(policy + " " + failed));
        table.put("ann", LimitOverride.of("7/1s").withConcurrency(3));
        table.put("ben", LimitOverride.of("7/1s"));
        checked.await(BUCKET, ANN, "ann");
        checked.await(BUCKET, Identity.principal("ben"), "ben");
        assertThat(checked.of(BUCKET, ANN, "ann")).isEmpty();
        assertThat(checked.of(BUCKET, Identity.principal("ben"), "ben")).isPresent();
        assertThat(failures).containsExactly("api ERROR");
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-316");
    }

    @Test
    void anOverrideHasTheLeaseOfThePolicyOrAtMostHalfOfItsSmallestLimit() {
        Policy leased = leased(30);
        table.put("ann", LimitOverride.of("7/1s, 200/1h"));
        table.put("ben", LimitOverride.of("60/1m"));
        table.put("cas", LimitOverride.of("1/1m"));
        assertThat(ask(leased, ANN).orElseThrow().lease()).isEqualTo(3);
        assertThat(ask(leased, Identity.principal("ben")).orElseThrow().lease()).isEqualTo(30);
        assertThat(ask(leased, Identity.principal("cas")).orElseThrow().lease()).isZero();
    }

    @Test
    void aChangedLeaseAppliesToCachedOverridesUpToHalfOfTheirLimits() {
        table.put("ann", LimitOverride.of("20/1m"));
        assertThat(ask(leased(4), ANN).orElseThrow().lease()).isEqualTo(4);
        assertThat(ask(leased(30), ANN).orElseThrow().lease()).isEqualTo(10);
        assertThat(ask(API, ANN).orElseThrow().lease()).isZero();
        assertThat(asked).containsExactly("ann");
    }

    private static Policy leased(long permits) {
        return ReadPolicies.of("ratelimit.policies.api.limit=100/1m", "ratelimit.policies.api.lease=" + permits)
                .policy("api");
    }

    @Test
    void answersAreCachedEvenIfTheyAreEmpty() {
        table.put("ann", LimitOverride.of("7/1s"));
        PolicyLimits first = ask(API, ANN).orElseThrow();
        ask(API, Identity.principal("ben"));
        pass(FRESH.minusNanos(1));
        assertThat(ask(API, ANN)).containsSame(first);
        ask(API, Identity.principal("ben"));
        assertThat(asked).containsExactly("ann", "ben");
    }

    @Test
    void aStaleAnswerAppliesDuringOneLookUp() {
        table.put("ann", LimitOverride.of("7/1s"));
        ask(API, ANN);
        table.put("ann", LimitOverride.of("8/1s"));
        executor = queue::add;
        pass(FRESH);
        assertThat(limits(API, ANN)).isEqualTo("api/override[7/1s sliding-window]");
        assertThat(limits(API, ANN)).isEqualTo("api/override[7/1s sliding-window]");
        assertThat(queue).as("look-ups that run").hasSize(1);
        queue.remove().run();
        assertThat(limits(API, ANN)).isEqualTo("api/override[8/1s sliding-window]");
        assertThat(queue).isEmpty();
    }

    @Test
    void anEqualAnswerKeepsTheSameLimits() {
        table.put("ann", LimitOverride.of("60/1m"));
        PolicyLimits first = ask(API, ANN).orElseThrow();
        pass(FRESH);
        ask(API, ANN);
        assertThat(ask(API, ANN)).containsSame(first);
        table.put("ann", LimitOverride.of(" 60/60s"));
        pass(FRESH);
        ask(API, ANN);
        assertThat(ask(API, ANN)).containsSame(first);
        assertThat(asked).hasSize(3);
    }

    @Test
    void theLimitsOfThePolicyApplyAfterAnEmptyAnswer() {
        table.put("ann", LimitOverride.of("7/1s"));
        ask(API, ANN);
        table.clear();
        pass(FRESH);
        ask(API, ANN);
        assertThat(limits(API, ANN)).isEqualTo("none");
    }

    @Test
    void aFailureKeepsTheLastValidAnswerAndIsLoggedOncePerOutage() {
        table.put("ann", LimitOverride.of("7/1s"));
        ask(API, ANN);
        failure = new IllegalStateException("the database is away");
        for (int i = 0; i < 3; i++) {
            pass(FRESH);
            assertThat(limits(API, ANN)).isEqualTo("api/override[7/1s sliding-window]");
        }
        assertThat(limits(API, Identity.principal("new"))).isEqualTo("none");
        failure = null;
        table.put("ann", LimitOverride.of("many"));
        pass(FRESH);
        assertThat(limits(API, ANN)).isEqualTo("api/override[7/1s sliding-window]");
        table.put("ann", LimitOverride.of("8/1s"));
        pass(FRESH);
        ask(API, ANN);
        assertThat(limits(API, ANN)).isEqualTo("api/override[8/1s sliding-window]");
        assertThat(failures).hasSize(5).containsOnly("api ERROR");
        assertThat(log.lines())
                .containsExactly(
                        "WARNING WEIR-316 A PolicySource did not return the limits of key ann of policy api (it failed). The last known limits"
                                + " apply, otherwise the limits of the policy. This is logged once for each outage.");
    }

    @Test
    void theMessageContainsTheMaskedKeyOfTheFirstFailure() {
        executor = queue::add;
        Overrides impatient = overrides(Duration.ofNanos(1), source);
        impatient.of(API, ANN, "p.ann");
        impatient.await(API, ANN, "p.ann");
        failure = new IllegalStateException("away");
        impatient.of(API, Identity.principal("ben"), "p.ben");
        queue.forEach(Runnable::run);
        assertThat(log.lines()).hasSize(1);
        assertThat(log.lines().get(0)).contains("limits of key " + masker.of("p.ann") + " of policy api (no answer");
        assertThat(masker.of("p.ann")).startsWith("p.~").doesNotContain("ann");
    }

    @Test
    void aFailingSourceIsCalledOncePerKeyAndInterval() {
        failure = new IllegalStateException("away");
        ask(API, ANN);
        ask(API, ANN);
        pass(FRESH.minusNanos(1));
        ask(API, ANN);
        assertThat(asked).hasSize(1);
    }

    @Test
    void nullIsAFailure() {
        Overrides nullAnswering = overrides(Duration.ZERO, new PolicySource() {
            @Override
            public Set<String> policies() {
                return Set.of("api");
            }

            @Override
            @SuppressWarnings("NullAway") // an application can return null
            public Optional<LimitOverride> limits(String policy, Identity key) {
                return null;
            }
        });
        assertThat(nullAnswering.of(API, ANN, "ann")).isEmpty();
        assertThat(failures).containsExactly("api ERROR");
    }

    @Test
    void anErrorIsAFailure() {
        Overrides recursive = overrides(Duration.ZERO, new PolicySource() {
            @Override
            public Set<String> policies() {
                return Set.of("api");
            }

            @Override
            public Optional<LimitOverride> limits(String policy, Identity key) {
                throw new StackOverflowError();
            }
        });
        assertThat(recursive.of(API, ANN, "ann")).isEmpty();
        assertThat(failures).containsExactly("api ERROR");
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-316");
    }

    @Test
    void aLookUpThatCannotStartReleasesItsSlot() {
        List<Executor> full = List.of(
                task -> {
                    throw new RejectedExecutionException("full");
                },
                task -> {
                    throw new InternalError("no thread can be created");
                });
        for (int i = 0; i < 2 * Overrides.MAX_LOOKUPS; i++) {
            executor = full.get(i % 2);
            assertThat(limits(API, Identity.principal("p" + i))).isEqualTo("none");
        }
        assertThat(failures).hasSize(2 * Overrides.MAX_LOOKUPS).containsOnly("api ERROR");
        pass(FRESH);
        executor = Runnable::run;
        table.put("p1", LimitOverride.of("7/1s"));
        ask(API, Identity.principal("p1"));
        assertThat(limits(API, Identity.principal("p1"))).isEqualTo("api/override[7/1s sliding-window]");
    }

    @Test
    void atMostSixteenLookUpsRunAndOtherCallsDoNotWait() {
        executor = queue::add;
        Overrides patient = overrides(Duration.ofHours(1), source);
        for (int i = 0; i < 1_000; i++) {
            assertThat(patient.of(API, Identity.principal("p" + i), "p" + i)).isEmpty();
        }
        patient.await(API, Identity.principal("last"), "last");
        assertThat(queue).hasSize(Overrides.MAX_LOOKUPS);
        assertThat(failures).contains("api BUSY").doesNotContain("api TIMEOUT");
        queue.remove().run();
        table.put("last", LimitOverride.of("7/1s"));
        patient.of(API, Identity.principal("last"), "last");
        queue.removeLast().run();
        assertThat(patient.of(API, Identity.principal("last"), "last")).isPresent();
    }

    @Test
    void callsWaitForTheFirstAnswerUntilOneDeadline() {
        executor = queue::add;
        Overrides impatient = overrides(Duration.ofMillis(20), source);
        long start = System.nanoTime();
        impatient.await(API, ANN, "ann");
        assertThat(System.nanoTime() - start).isBetween(20_000_000L, 10_000_000_000L);
        assertThat(failures).containsExactly("api TIMEOUT");
        pass(Duration.ofMillis(20));
        impatient.await(API, ANN, "ann");
        assertThat(impatient.of(API, ANN, "ann")).isEmpty();
        assertThat(failures).as("the deadline of the look-up has passed").hasSize(1);
        table.put("ann", LimitOverride.of("7/1s"));
        queue.remove().run();
        assertThat(impatient.of(API, ANN, "ann")).as("the look-up continued").isPresent();
    }

    @Test
    void aWaitingCallUsesTheAnswer() throws Exception {
        executor = queue::add;
        table.put("ann", LimitOverride.of("7/1s"));
        CompletableFuture<Optional<PolicyLimits>> call =
                CompletableFuture.supplyAsync(() -> ask(API, ANN), task -> new Thread(task).start());
        while (queue.isEmpty()) {
            Thread.onSpinWait();
        }
        queue.remove().run();
        assertThat(call.get(10, TimeUnit.SECONDS)).isPresent();
    }

    @Test
    void anAsynchronousCallWaitsWithoutAThread() {
        executor = queue::add;
        List<CompletableFuture<Void>> timers = new ArrayList<>();
        CompletableFuture<Void> answered = overrides.awaitAsync(API, ANN, "ann", micros -> timer(timers, micros));
        assertThat(answered).isNotDone();
        queue.remove().run();
        assertThat(answered).isCompleted();
        assertThat(timers.get(0)).isCancelled();
        CompletableFuture<Void> late =
                overrides.awaitAsync(API, Identity.principal("ben"), "ben", micros -> timer(timers, micros));
        timers.get(1).complete(null);
        assertThat(late).isCompleted();
        queue.remove().run();
        assertThat(failures).containsExactly("api TIMEOUT");
        assertThat(overrides.awaitAsync(API, ANN, "ann", micros -> timer(timers, micros)))
                .isCompleted();
        assertThat(timers).hasSize(2);
    }

    private static CompletableFuture<Void> timer(List<CompletableFuture<Void>> timers, long micros) {
        assertThat(micros).isBetween(60_000_000L, 60_000_001L);
        CompletableFuture<Void> timer = new CompletableFuture<>();
        timers.add(timer);
        return timer;
    }

    @Test
    void aChangedPolicyParsesTheAnswerAgain() {
        table.put("ann", new LimitOverride("7/1s", OptionalLong.of(9)));
        assertThat(limits(BUCKET, ANN)).contains("token-bucket burst 9");
        assertThat(limits(API, ANN)).as("a window has no burst").isEqualTo("none");
        assertThat(limits(BUCKET, ANN)).contains("token-bucket burst 9");
        assertThat(asked).hasSize(1);
    }

    @Test
    void aSourceIsNotCalledForOtherPolicies() {
        Policy other = ReadPolicies.of("ratelimit.policies.other.limit=1/1m").policy("other");
        assertThat(overrides.existFor(other)).isFalse();
        assertThat(limits(other, ANN)).isEqualTo("none");
        assertThat(asked).isEmpty();
    }

    @Test
    void theSourceWithTheHighestPriorityIsCalledFirstAndTheFirstAnswerApplies() {
        table.put("ann", LimitOverride.of("7/1s"));
        Map<String, LimitOverride> first = new HashMap<>(Map.of("ben", LimitOverride.of("1/1s")));
        Overrides both = overrides(Duration.ZERO, source, new PolicySource() {
            @Override
            public Set<String> policies() {
                return Set.of("api", "other");
            }

            @Override
            public Optional<LimitOverride> limits(String policy, Identity key) {
                return Optional.ofNullable(first.get(key.parts().get(0).value()));
            }

            @Override
            public int priority() {
                return 1;
            }
        });
        assertThat(both.of(API, ANN, "ann")).isPresent();
        assertThat(both.of(API, Identity.principal("ben"), "ben").map(Object::toString))
                .contains("api/override[1/1s sliding-window]");
        assertThat(asked).containsExactly("ann");
    }

    @Test
    void keysAreNotRetained() {
        List<Identity> keys = new ArrayList<>();
        Overrides some = overrides(Duration.ofMinutes(1), new PolicySource() {
            @Override
            public Set<String> policies() {
                return Set.of("api");
            }

            @Override
            public Optional<LimitOverride> limits(String policy, Identity key) {
                keys.add(key);
                return Optional.empty();
            }
        });
        Identity first = Identity.header("x-key", "k".repeat(1_000));
        Identity second = Identity.header("x-key", "k".repeat(1_000));
        some.of(API, first, "h.x-key.~hash");
        pass(FRESH);
        some.of(API, second, "h.x-key.~hash");
        assertThat(keys.get(0)).isSameAs(first);
        assertThat(keys.get(1)).isSameAs(second);
    }

    @Test
    void manyKeysTakeBoundedMemory() {
        for (int i = 0; i < 3 * Overrides.MAX_KEYS; i++) {
            ask(API, Identity.principal("p" + i));
        }
        assertThat(overrides.size()).isLessThanOrEqualTo(Overrides.MAX_KEYS);
    }

    @Test
    void aSourceThatDoesNotReturnItsPoliciesFailsTheDeployment() {
        Problems problems = new Problems();
        PolicySource broken = new PolicySource() {
            @Override
            public Set<String> policies() {
                throw new IllegalStateException("not ready");
            }

            @Override
            public Optional<LimitOverride> limits(String policy, Identity key) {
                return Optional.empty();
            }
        };
        assertThat(OverrideSources.of(List.of(broken), problems).policies()).isEmpty();
        assertThat(problems.message())
                .contains(
                        "WEIR-215 " + broken.getClass().getName()
                                + ".policies(): the source does not return its policies: java.lang.IllegalStateException: not ready;");
    }

    private static final Overrides.Subject ANN_OF_API = new Overrides.Subject("api", "ann");

    @Test
    void theLimitsOfAnOperatorPrecedeThoseOfASource() {
        table.put("ann", LimitOverride.of("7/1m"));
        assertThat(limits(API, ANN)).isEqualTo("api/override[7/1m sliding-window]");
        overrides.replace(Map.of(ANN_OF_API, Map.of("limit", "500/1m")));
        assertThat(limits(API, ANN)).isEqualTo("api/override[500/1m sliding-window]");
        assertThat(overrides.cached(API, "ann").map(Object::toString)).contains("api/override[500/1m sliding-window]");
        overrides.replace(Map.of());
        assertThat(limits(API, ANN)).isEqualTo("api/override[7/1m sliding-window]");
    }

    @Test
    void theLimitsOfAnOperatorNeedNoSourceAndNoLookUp() {
        Overrides without = overrides(Duration.ofMinutes(1));
        assertThat(without.existFor(API)).isFalse();
        without.replace(Map.of(ANN_OF_API, Map.of("limit", "500/1m")));
        assertThat(without.existFor(API)).isTrue();
        assertThat(without.of(API, ANN, "ann").map(Object::toString)).contains("api/override[500/1m sliding-window]");
        assertThat(without.of(API, Identity.principal("ben"), "ben")).isEmpty();
        assertThat(without.size()).isZero();
        without.replace(Map.of());
        assertThat(without.existFor(API)).isFalse();
        assertThat(without.cached(API, "ann")).isEmpty();
        overrides.replace(Map.of(ANN_OF_API, Map.of("limit", "500/1m")));
        limits(API, ANN);
        assertThat(asked).as("the source is not asked for this key").isEmpty();
    }

    @Test
    void theLimitsOfAnOperatorAreParsedAgainUnderAChangedPolicy() {
        overrides.replace(Map.of(ANN_OF_API, Map.of("limit", "7/1s", "burst", "9")));
        Optional<PolicyLimits> first = overrides.of(BUCKET, ANN, "ann");
        assertThat(first.map(Object::toString)).contains("api/override[7/1s token-bucket burst 9 max-wait 2s]");
        overrides.replace(Map.of(ANN_OF_API, Map.of("limit", "7/1s", "burst", "9")));
        assertThat(overrides.of(BUCKET, ANN, "ann").orElseThrow())
                .as("calls wait under the same object")
                .isSameAs(first.orElseThrow());
        assertThat(overrides.of(API, ANN, "ann"))
                .as("a policy without buckets has no burst, so its own limits apply")
                .isEmpty();
    }

    @Test
    void aConcurrencyOfOneKeyKeepsTheLimitsOfThePolicy() {
        overrides.replace(Map.of(ANN_OF_API, Map.of("concurrency", "3")));
        assertThat(overrides.of(API, ANN, "ann").orElseThrow().limits())
                .hasSize(API.limits().limits().size() + 1)
                .startsWith(API.limits().limits().get(0))
                .last()
                .hasToString("3 concurrent");
    }
}
