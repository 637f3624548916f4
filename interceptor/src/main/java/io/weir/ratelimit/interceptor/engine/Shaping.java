// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.interceptor.engine.DecidingStore.Told;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Lets calls wait instead of refusing them. A bucket gives a call its slot when it is asked, so the call waits once; a window gives
 * none, so a call that it refuses asks again when there is room, with what is left of its patience.
 */
final class Shaping {
    private final DecidingStore store;
    private final Pause pause;
    private final WaitingPlaces places = new WaitingPlaces();

    Shaping(DecidingStore store, Pause pause) {
        this.store = store;
        this.pause = pause;
    }

    Pause pause() {
        return pause;
    }

    /** Of a call that is a part of a request, or of none. */
    Waiter waiter(Binding binding, @Nullable RequestRecord request) {
        return new Waiter(binding, request);
    }

    /** The store's answer to a call, and how long the call has to wait for its slot, or before it asks again. */
    record Answer(Told told, long waitMicros) {}

    /** One call: what is left of its patience, and the places that it holds. Used by one thread at a time. */
    final class Waiter {
        private final Binding binding;
        private final @Nullable RequestRecord request;
        private final long startNanos;
        private long waitedMicros;
        private List<Policy> held = List.of();

        private Waiter(Binding binding, @Nullable RequestRecord request) {
            this.binding = binding;
            this.request = request;
            this.startNanos = isShaped(binding) ? pause.nanos() : 0;
        }

        /** How long the call is ready to wait under a policy; not at all if no more calls may. */
        long patienceMicros(Policy policy) {
            long left = policy.maxWaitMicros() - waitedMicros;
            return left > 0 && (held.contains(policy) || places.isFree(policy)) ? left : 0;
        }

        /** Asks until there is a decision, waiting on this thread, which an interrupt ends. Null if nothing was to be asked. */
        @Nullable
        Told decide(Supplier<@Nullable Answer> ask, UnaryOperator<Told> callOff) {
            try {
                while (true) {
                    Answer answer = ask.get();
                    if (answer == null || answer.waitMicros == 0) {
                        return answer == null ? null : answer.told;
                    }
                    try {
                        pause.hold(answer.waitMicros);
                    } catch (InterruptedException e) {
                        return calledOff(answer.told, callOff);
                    }
                    if (answer.told.decision() instanceof Decision.Allowed) {
                        return answer.told;
                    }
                    noteTime();
                }
            } finally {
                leave();
            }
        }

        /** The flag is raised last: an interrupted thread could not ask a store. */
        private Told calledOff(Told told, UnaryOperator<Told> callOff) {
            try {
                return callOff.apply(told);
            } finally {
                Thread.currentThread().interrupt();
            }
        }

        Answer ask(List<Charge> charges) {
            Told told = decided(charges);
            long wait = waitOf(told);
            return takePlaces(told, wait) ? new Answer(told, wait) : new Answer(withoutWaiting(told), 0);
        }

        /** A request waits for a store that does not answer once, not with each of its decisions. */
        private Told decided(List<Charge> charges) {
            BackendException unanswered = request == null ? null : request.unanswered(pause);
            if (unanswered != null) {
                return store.withoutAsking(binding, charges, unanswered);
            }
            Told told = store.decide(binding, charges);
            if (request != null && told.failure() != null && !Outages.isOfSomeKeys(told.failure())) {
                request.unanswered(told.failure(), pause.nanos());
            }
            return told;
        }

        /** What is answered to a call that had to wait and cannot. */
        Told withoutWaiting(Told told) {
            if (told.decision() instanceof Decision.Allowed reserved) {
                BackendException failure = store.giveBack(reserved.receipt());
                List<Charge> charges = impatient(told.charges());
                return failure == null ? decided(charges) : store.withoutAsking(binding, charges, failure);
            }
            return told;
        }

        /** Makes the call one that waits, unless too many do. */
        boolean takePlaces(Told told, long waitMicros) {
            if (waitMicros == 0) {
                return true;
            }
            List<Policy> needed = new ArrayList<>();
            for (Binding.Costed costed : binding.policies()) {
                if (isPatientUnder(costed.policy(), told.charges()) && !held.contains(costed.policy())) {
                    needed.add(costed.policy());
                }
            }
            if (!places.take(needed)) {
                return false;
            }
            needed.addAll(held);
            held = needed;
            return true;
        }

        /** Takes note of how much of the call's patience is used. */
        void noteTime() {
            waitedMicros = (pause.nanos() - startNanos + 999) / 1_000;
        }

        void leave() {
            places.leave(held);
            held = List.of();
        }
    }

    private static boolean isShaped(Binding binding) {
        for (Binding.Costed costed : binding.policies()) {
            if (costed.policy().maxWaitMicros() > 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean isPatientUnder(Policy policy, List<Charge> charges) {
        for (Charge charge : charges) {
            if (charge.patienceMicros() > 0 && charge.policy().policy().equals(policy.name())) {
                return true;
            }
        }
        return false;
    }

    static List<Charge> impatient(List<Charge> charges) {
        return charges.stream().map(Charge::withoutPatience).toList();
    }

    /** How long a call has to wait, 0 if it is decided. */
    static long waitOf(Told told) {
        if (told.decision() instanceof Decision.Allowed allowed) {
            return allowed.waitMicros();
        }
        return told.decision() instanceof Decision.Rejected rejected
                ? untilAskedAgain(told.charges(), rejected.quotas())
                : 0;
    }

    /**
     * The longest wait of the limits that refused, 0 if one of them lies beyond the call's patience. A bucket that refused has taken
     * the whole patience into account: waiting brings its slot no nearer to what is left of it.
     */
    private static long untilAskedAgain(List<Charge> charges, List<Quota> quotas) {
        long longest = 0;
        int next = 0;
        for (Charge charge : charges) {
            if (charge.shadow()) {
                continue;
            }
            long patience = charge.patienceMicros();
            for (Limit limit : charge.policy().limits()) {
                Quota quota = quotas.get(next);
                next++;
                if (quota.refused()) {
                    if (quota.retryAfterMicros() > patience - limit.slotWithinMicros(patience)) {
                        return 0;
                    }
                    longest = Math.max(longest, quota.retryAfterMicros());
                }
            }
        }
        return longest;
    }
}
