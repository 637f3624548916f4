// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A decision over keys in several slots of a cluster, which no single script can see. First all parts are looked at, at once; if any
 * refuses, that is the answer and nothing was written. Then they are spent, the one with the least room first and alone, since that is
 * where a race would be lost, and the others at once. What was spent before a race was lost, or before time was up, is given back.
 */
final class SlotDecision {
    private static final String TOO_LATE = "the deadline passed between looking and spending";

    /** What it needs of the store. */
    interface Store {
        Check check(List<Charge> charges, boolean spends);

        void refused(Check check, Answer answer);

        void giveUp(Check check);

        void giveBack(BackendReceipt receipt);
    }

    /** The charges of one slot. */
    private static final class Part {
        final List<Charge> charges = new ArrayList<>();
        final List<Integer> order = new ArrayList<>();
        volatile @Nullable Check last;

        @Nullable
        Answer looked;

        @Nullable
        Answer spent;

        /** How many more calls like this one it admits. */
        double room() {
            Answer seen = Objects.requireNonNull(looked);
            double least = Double.MAX_VALUE;
            int i = 0;
            for (Charge charge : charges) {
                for (Limit limit : charge.policy().limits()) {
                    LimitState state = seen.states().get(i);
                    least = Math.min(least, (double) state.remaining(limit, seen.nowMicros()) / charge.cost());
                    i++;
                }
            }
            return least;
        }
    }

    private final List<Charge> charges;
    private final Store store;
    private final long untilNanos;
    private final List<Part> parts;
    private final CompletableFuture<Decision> decision = new CompletableFuture<>();

    /**
     * A decision that is not started.
     *
     * @param charges in more than one slot
     * @param slots the slot of a charge
     * @param store what it asks
     * @param untilNanos until when it may spend, as {@link System#nanoTime}
     */
    SlotDecision(List<Charge> charges, ToIntFunction<Charge> slots, Store store, long untilNanos) {
        this.charges = charges;
        this.store = store;
        this.untilNanos = untilNanos;
        Map<Integer, Part> bySlot = new LinkedHashMap<>();
        for (int i = 0; i < charges.size(); i++) {
            Part part = bySlot.computeIfAbsent(slots.applyAsInt(charges.get(i)), slot -> new Part());
            part.charges.add(charges.get(i));
            part.order.add(i);
        }
        this.parts = List.copyOf(bySlot.values());
    }

    /** Starts; completed with the decision or a {@link BackendException}. */
    CompletableFuture<Decision> decide() {
        then(ask(parts, false), failure -> {
            if (failure != null) {
                decision.completeExceptionally(RedisClient.failure(failure));
            } else if (!parts.stream().allMatch(part -> looked(part).room())) {
                parts.forEach(part -> store.refused(Objects.requireNonNull(part.last), looked(part)));
                decision.complete(rejected());
            } else if (!isLate()) {
                spend(parts.stream()
                        .sorted(Comparator.comparingDouble(Part::room))
                        .toList());
            }
        });
        return decision;
    }

    private void spend(List<Part> narrowestFirst) {
        Part first = narrowestFirst.get(0);
        then(ask(List.of(first), true), failure -> {
            if (failure != null || !isSpent(first) || isLate()) {
                end(failure);
            } else {
                then(ask(narrowestFirst.subList(1, narrowestFirst.size()), true), this::end);
            }
        });
    }

    private void then(CompletionStage<Void> asked, Consumer<@Nullable Throwable> next) {
        asked.whenComplete((all, failure) -> {
            try {
                next.accept(failure);
            } catch (RuntimeException e) {
                decision.completeExceptionally(RedisClient.failure(e));
            }
        });
    }

    /**
     * Asks some parts at once; completed when all have answered, each of which is noted. A part that cannot be asked has failed as
     * any other, since the rest may have been spent.
     */
    private CompletionStage<Void> ask(List<Part> asked, boolean spends) {
        List<CompletableFuture<?>> answers = new ArrayList<>();
        for (Part part : asked) {
            try {
                Check check = store.check(part.charges, spends);
                part.last = check;
                answers.add(check.thenAccept(answer -> {
                    if (spends) {
                        part.spent = answer;
                    } else {
                        part.looked = answer;
                    }
                }));
                // Whoever gave up while this was asked has not seen it, and nothing else would end it.
                if (decision.isDone()) {
                    giveUp(part);
                }
            } catch (RuntimeException e) {
                answers.add(CompletableFuture.failedFuture(e));
            }
        }
        return CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new));
    }

    /** Whether it is over: nobody waits any longer, or nobody should. */
    private boolean isLate() {
        if (System.nanoTime() - untilNanos >= 0) {
            decision.completeExceptionally(new BackendException(BackendException.Reason.TIMEOUT, TOO_LATE, null));
        }
        return decision.isDone();
    }

    private void end(@Nullable Throwable failure) {
        boolean all = parts.stream().allMatch(SlotDecision::isSpent);
        if (!all) {
            giveBackSpent();
        }
        if (failure != null) {
            decision.completeExceptionally(RedisClient.failure(failure));
        } else if (!all) {
            decision.complete(rejected());
        } else if (!decision.complete(allowed())) {
            giveBackSpent();
        }
    }

    private void giveBackSpent() {
        for (Part part : parts) {
            if (isSpent(part)) {
                store.giveBack(new BackendReceipt(part.charges, spent(part).states()));
            }
        }
    }

    private static Answer looked(Part part) {
        return Objects.requireNonNull(part.looked);
    }

    private static Answer spent(Part part) {
        return Objects.requireNonNull(part.spent);
    }

    private static boolean isSpent(Part part) {
        return part.spent != null && part.spent.spent();
    }

    private Decision allowed() {
        long wait =
                parts.stream().mapToLong(part -> spent(part).waitMicros()).max().orElse(0);
        List<LimitState> states = inOrder(part -> spent(part).states());
        return new Decision.Allowed(
                inOrder(part -> spent(part).quotas(part.charges)), new BackendReceipt(charges, states), wait);
    }

    /** Says of what was spent and is given back what it said before. */
    private Decision rejected() {
        return new Decision.Rejected(inOrder(
                part -> (part.spent == null || part.spent.spent() ? looked(part) : part.spent).quotas(part.charges)));
    }

    /** What the parts have for each limit, in the order of the charges. */
    private <T> List<T> inOrder(Function<Part, List<T>> ofPart) {
        List<List<T>> byCharge = new ArrayList<>(Collections.nCopies(charges.size(), List.of()));
        for (Part part : parts) {
            List<T> all = ofPart.apply(part);
            int from = 0;
            for (int i = 0; i < part.charges.size(); i++) {
                int to = from + part.charges.get(i).policy().limits().size();
                byCharge.set(part.order.get(i), all.subList(from, to));
                from = to;
            }
        }
        return byCharge.stream().flatMap(List::stream).toList();
    }

    /** Ends what is still on its way; what of it was spent nevertheless is given back when that is known. */
    void giveUp() {
        decision.completeExceptionally(new BackendException(BackendException.Reason.TIMEOUT, "given up", null));
        parts.forEach(this::giveUp);
    }

    private void giveUp(Part part) {
        Check last = part.last;
        if (last != null && !last.isDone()) {
            store.giveUp(last);
        }
    }
}
