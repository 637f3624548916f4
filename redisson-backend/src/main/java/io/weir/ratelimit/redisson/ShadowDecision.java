// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A decision about a call with shadow charges. In one slot these travel with the others, in the same flight and right behind. In
 * several slots the others are decided as if they were alone, and once the call is admitted each shadow charge is spent by itself: as
 * none of them refuses anybody, they need not be decided together. A shadow charge of which nothing is known in time is left out.
 */
final class ShadowDecision {
    private static final Decision.Allowed NOTHING_ENFORCED = new Decision.Allowed(List.of(), Receipt.EMPTY);

    /** What it needs of the store. */
    interface Store {
        /** A check that spends, not sent. */
        Check check(List<Charge> charges);

        /** Sends a check, with those that travel with it. */
        void send(Check check);

        /** Ends a check at the deadline that was made for this call and sent at once. */
        void watch(Check check);

        /** The decision about the charges of a check that was answered. */
        Decision decided(Check check, Answer answer);

        /** Decides about charges that are not shadow, in any slots; ends at the deadline. */
        CompletableFuture<Decision> decide(List<Charge> enforced);

        /** A shadow charge was spent. */
        void spent(Check check);

        void giveUp(Check check);

        void giveBack(BackendReceipt receipt);
    }

    private final List<Charge> enforced = new ArrayList<>();
    private final List<Charge> shadow = new ArrayList<>();
    private final Store store;
    private final long untilNanos;
    private final CompletableFuture<Decision> decision = new CompletableFuture<>();

    /** One for each shadow charge, once they are asked for. */
    private volatile List<Check> asked = List.of();

    /** What is told, once enough is known. Guarded by this. */
    private @Nullable CompletionStage<Decision> settled;

    /** The decision without the shadow charges, once it waits for them alone. Guarded by this. */
    private Decision.@Nullable Allowed admitted;

    /** Whether nobody waits any longer. Guarded by this. */
    private boolean givenUp;

    private volatile @Nullable Check head;

    /**
     * A decision that is not started.
     *
     * @param charges one shadow charge or more, and others or none
     * @param store what it asks
     * @param untilNanos how long it waits for shadow charges, as {@link System#nanoTime}
     */
    ShadowDecision(List<Charge> charges, Store store, long untilNanos) {
        charges.forEach(charge -> (charge.shadow() ? shadow : enforced).add(charge));
        this.store = store;
        this.untilNanos = untilNanos;
    }

    /** Starts, with all keys in one slot or not; completed with the decision or a {@link BackendException}. */
    CompletableFuture<Decision> decide(boolean inOneSlot) {
        if (inOneSlot && enforced.isEmpty()) {
            shadowsTogether();
        } else if (inOneSlot) {
            allTogether();
        } else if (enforced.isEmpty()) {
            shadowsApart(NOTHING_ENFORCED);
        } else {
            failsWith(store.decide(enforced).thenAccept(this::decidedAlone));
        }
        return decision;
    }

    private void allTogether() {
        List<Check> shadows =
                shadow.stream().map(each -> check(each).following()).toList();
        Check check = store.check(enforced).with(shadows);
        failsWith(send(check, shadows).thenAccept(answer -> end(store.decided(check, answer))));
    }

    private void shadowsTogether() {
        List<Check> shadows = new ArrayList<>(shadow.stream().map(this::check).toList());
        Check check = shadows.get(0).with(shadows.subList(1, shadows.size()));
        shadows.set(0, check);
        failsWith(send(check, List.copyOf(shadows)).handle((answer, failure) -> {
            end(NOTHING_ENFORCED);
            return null;
        }));
    }

    private CompletionStage<Answer> send(Check check, List<Check> shadows) {
        head = check;
        asked = shadows;
        store.send(check);
        store.watch(check);
        return check;
    }

    private void failsWith(CompletionStage<Void> step) {
        step.whenComplete((done, failure) -> {
            if (failure != null) {
                decision.completeExceptionally(RedisClient.failure(failure));
            }
        });
    }

    private Check check(Charge charge) {
        return store.check(List.of(charge));
    }

    private void decidedAlone(Decision alone) {
        if (alone instanceof Decision.Allowed allowed) {
            shadowsApart(allowed);
        } else {
            decision.complete(alone);
        }
    }

    private void shadowsApart(Decision.Allowed allowed) {
        List<Check> checks = shadow.stream().map(this::check).toList();
        asked = checks;
        if (!admit(allowed)) {
            store.giveBack(BackendReceipt.of(entries(allowed)));
            return;
        }
        for (Check check : checks) {
            try {
                store.send(check);
            } catch (RuntimeException e) {
                check.completeExceptionally(e);
            }
        }
        CompletionStage<Void> all = CompletableFuture.allOf(checks.toArray(CompletableFuture<?>[]::new))
                .completeOnTimeout(null, untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        all.whenComplete((nothing, failure) -> giveUp());
    }

    private synchronized boolean admit(Decision.Allowed allowed) {
        admitted = givenUp ? null : allowed;
        return !givenUp;
    }

    private synchronized Decision.@Nullable Allowed admittedWhenGivenUp() {
        givenUp = true;
        return admitted;
    }

    /** Ends it with what is known: a call that is admitted waits for its shadow charges no longer. */
    void giveUp() {
        Decision.Allowed known = admittedWhenGivenUp();
        if (known != null) {
            end(known);
            asked.stream().filter(check -> !check.isDone()).forEach(store::giveUp);
            return;
        }
        decision.completeExceptionally(late());
        Check sent = head;
        if (sent != null) {
            store.giveUp(sent);
        }
    }

    /** Whoever comes second tells the same: a receipt can be taken apart once only. */
    private void end(Decision base) {
        settled(base).whenComplete((told, failure) -> {
            if (failure == null) {
                decision.complete(told);
            } else {
                decision.completeExceptionally(failure);
            }
        });
    }

    private synchronized CompletionStage<Decision> settled(Decision base) {
        if (settled == null) {
            settled = withShadows(base);
        }
        return settled;
    }

    private CompletionStage<Decision> withShadows(Decision base) {
        List<Quota> quotas = new ArrayList<>();
        List<BackendReceipt.Entry> spent = new ArrayList<>();
        for (Check check : asked) {
            if (check.isDone() && !check.isCompletedExceptionally()) {
                Answer answer = check.join();
                quotas.addAll(answer.quotas(check.charges));
                if (answer.spent()) {
                    store.spent(check);
                    spent.add(new BackendReceipt.Entry(check.charges.get(0), answer.states()));
                }
            }
        }
        if (enforced.isEmpty() && quotas.isEmpty()) {
            return CompletableFuture.failedStage(failure(asked.get(0)));
        }
        if (base instanceof Decision.Allowed allowed) {
            spent.addAll(0, entries(allowed));
            return CompletableFuture.completedStage(
                    new Decision.Allowed(allowed.quotas(), BackendReceipt.of(spent), allowed.waitMicros(), quotas));
        }
        return CompletableFuture.completedStage(new Decision.Rejected(base.quotas(), quotas));
    }

    private static List<BackendReceipt.Entry> entries(Decision.Allowed allowed) {
        return allowed.receipt() instanceof BackendReceipt receipt ? receipt.use() : List.of();
    }

    private static BackendException failure(Check check) {
        Throwable failure = check.isDone()
                ? check.<Throwable>handle((answer, thrown) -> thrown == null ? late() : thrown)
                        .join()
                : late();
        return RedisClient.failure(failure);
    }

    private static BackendException late() {
        return new BackendException(Reason.TIMEOUT, "given up", null);
    }
}
