// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** From charges to checks, from checks to flights, and from answers to decisions; without waiting. */
final class CheckIn {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** No policy of a user's can have this name, and nobody reaches this limit. */
    private static final PolicyLimits PROBES = new PolicyLimits(
            "+probe", List.of(Limit.of(Algorithm.FIXED_WINDOW, Limit.MAX_PERMITS, Duration.ofSeconds(1))));

    private final RedisClient redis;
    private final StoredKeys keys;
    private final Flights flights;
    private final Breaker breaker;
    private final GiveBacks giveBacks;
    private final Waiting waiting;
    private final Deadlines deadlines;

    /** Of those whose late answer is an answer. */
    private final Deadlines patient;

    /** None for a clock that is not Redis's, since it goes by the time that has passed here. */
    private final @Nullable RefusalMemory memory;

    CheckIn(
            RedisClient redis,
            StoredKeys keys,
            Flights flights,
            Breaker breaker,
            GiveBacks giveBacks,
            Waiting waiting,
            @Nullable RefusalMemory memory) {
        this.redis = redis;
        this.keys = keys;
        this.flights = flights;
        this.breaker = breaker;
        this.giveBacks = giveBacks;
        this.waiting = waiting;
        this.memory = memory;
        this.deadlines = new Deadlines(waiting.deadline(), this::late);
        this.patient = new Deadlines(waiting.deadline(), flights::giveUp);
    }

    /** Ends a check whose deadline has passed. */
    void late(Check check) {
        if (check.completeExceptionally(waiting.late())) {
            flights.giveUp(check);
        }
    }

    /** Puts a check on the next flight. */
    Check boarded(List<Charge> charges, List<String> named, boolean spends, long until) {
        return sent(made(charges, named, spends, until));
    }

    /**
     * The only command that Redis gets while the breaker is open: a charge in the slot of the call's first key, so that it also
     * shows whether what is written is taken. No permit of the call is spent, however it ends.
     */
    Check probe(List<Charge> charges, long until) {
        List<Charge> probes = List.of(new Charge(PROBES, charges.get(0).identity(), 1));
        Check probe = made(probes, keys.of(probes), true, until);
        probe.probe = true;
        return watched(sent(probe));
    }

    private Check sent(Check check) {
        flights.board(check, redis.slot(check.keys.get(0)));
        return check;
    }

    private Check made(List<Charge> charges, List<String> named, boolean spends, long until) {
        long stamp = memory == null ? 0 : memory.stamp(named);
        return new Check(charges, named, spends, stamp, until);
    }

    /** Ends a check with its deadline. */
    Check watched(Check check) {
        deadlines.watch(check);
        return check;
    }

    /** Lets nothing wait behind a check from its deadline on; its answer is taken whenever it comes. */
    Check watchedWithPatience(Check check) {
        patient.watch(check);
        return check;
    }

    void giveUp(Check check) {
        flights.giveUp(check);
    }

    boolean inOneSlot(List<String> named) {
        if (named.size() == 1 || !redis.hasSlots()) {
            return true;
        }
        int first = redis.slot(named.get(0));
        return named.stream().allMatch(key -> redis.slot(key) == first);
    }

    SlotDecision several(List<Charge> charges, long until) {
        return new SlotDecision(charges, this::slot, new Asking(until), until);
    }

    private int slot(Charge charge) {
        return redis.slot(keys.of(charge, 0));
    }

    ShadowDecision shadowed(List<Charge> charges, long until) {
        return new ShadowDecision(charges, new Asking(until), until);
    }

    /** Decides about charges none of which is shadow; ends at the deadline. */
    CompletableFuture<Decision> decide(List<Charge> charges, List<String> named, long until) {
        if (inOneSlot(named)) {
            Check check = watched(boarded(charges, named, true, until));
            return check.thenApply(answer -> decided(check, answer));
        }
        SlotDecision several = several(charges, until);
        return several.decide()
                .orTimeout(waiting.deadline().toNanos(), TimeUnit.NANOSECONDS)
                .exceptionallyCompose(failure -> {
                    several.giveUp();
                    return CompletableFuture.failedFuture(
                            failure instanceof TimeoutException ? waiting.late() : RedisClient.failure(failure));
                });
    }

    /** What is remembered of these charges, null if Redis is to be asked. */
    @Nullable
    Decision remembered(List<Charge> charges, List<String> named) {
        return memory == null || !isImpatient(charges)
                ? null
                : memory.recall(charges, named, System.nanoTime()).orElse(null);
    }

    private static boolean isImpatient(List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).patienceMicros() > 0) {
                return false;
            }
        }
        return true;
    }

    /** What an answer decides; a refusal that lasts is remembered. */
    Decision decided(Check check, Answer answer) {
        Decision decision = answer.decision(check.charges);
        if (memory != null) {
            if (decision.allowed()) {
                memory.admitted(check.keys);
            } else if (RefusalMemory.isWorthwhile((Decision.Rejected) decision)) {
                remember(check, answer);
            }
        }
        return decision;
    }

    private void remember(Check check, Answer answer) {
        if (memory != null) {
            memory.remember(
                    check.charges,
                    check.keys,
                    answer.states(),
                    answer.nowMicros(),
                    answer.sentNanos(),
                    answer.receivedNanos(),
                    check.stamp);
        }
    }

    /** What a decision of several checks asks for, until its deadline. */
    private final class Asking implements SlotDecision.Store, ShadowDecision.Store {
        private final long until;

        Asking(long until) {
            this.until = until;
        }

        @Override
        public Check check(List<Charge> part, boolean spends) {
            Check check = boarded(part, keys.of(part), spends, until);
            CompletionStage<Answer> told = check;
            told.whenComplete((answer, failure) -> {
                if (answer != null && answer.spent()) {
                    spent(check);
                }
            });
            return check;
        }

        @Override
        public void refused(Check check, Answer answer) {
            if (isImpatient(check.charges)) {
                remember(check, answer);
            }
        }

        @Override
        public Check check(List<Charge> charges) {
            return made(charges, keys.of(charges), true, until);
        }

        @Override
        public void send(Check check) {
            flights.board(check, redis.slot(check.keys.get(0)));
        }

        @Override
        public void watch(Check check) {
            deadlines.watch(check);
        }

        @Override
        public CompletableFuture<Decision> decide(List<Charge> enforced) {
            return CheckIn.this.decide(enforced, keys.of(enforced), until);
        }

        @Override
        public Decision decided(Check check, Answer answer) {
            return CheckIn.this.decided(check, answer);
        }

        @Override
        public void spent(Check check) {
            if (memory != null) {
                memory.admitted(check.keys);
            }
        }

        @Override
        public void giveUp(Check check) {
            CheckIn.this.giveUp(check);
        }

        @Override
        public void giveBack(BackendReceipt receipt) {
            if (breaker.isOpen()) {
                return;
            }
            CompletionStage<Void> given = giveBacks.send(receipt);
            // Nobody waits for it. What cannot be given back returns with its window.
            given.whenComplete((done, failure) -> {
                if (failure != null) {
                    LOG.log(Level.DEBUG, "not given back: {0}", failure.toString());
                }
            });
        }
    }
}
