// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.SlidingLogState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks that one script call decides about, each on its own, in the order they came. Equal ones with nothing about their keys
 * between them are one question with a count. Used by one thread at a time.
 */
final class Flight {
    /** 64 keys keep Redis busy for some 0.15 ms, 256 for half a millisecond, in which nobody else is served. */
    private static final int MOST_KEYS = 256;

    /** Checks that differ cost Redis time of their own also on one key: so many keep it busy for a millisecond. */
    private static final int MOST_PARTS = 1_024;

    private static final int MOST_EQUAL = 65_534;
    private static final int FOREIGN = 65_535;
    private static final int HEADER = 7;
    private static final int CHECK = 5;
    private static final int PART = 14;

    /** Equal checks in a row. */
    private static final class Run {
        final Check first;
        final int[] places;
        final List<Check> all = new ArrayList<>(1);

        Run(Check first, int[] places) {
            this.first = first;
            this.places = places;
        }
    }

    private final List<Object> keys = new ArrayList<>();
    private final List<Limit> limits = new ArrayList<>();
    private final List<Run> lastRuns = new ArrayList<>();
    private final List<Run> runs = new ArrayList<>();
    private @Nullable Map<String, Integer> places;
    private int checks;
    private int parts;

    private long sentNanos;
    private long receivedNanos;

    /** Whether it has left the air, or is not waited for; guarded by the lane's lock. */
    boolean over;

    Flight(Check first) {
        board(first);
    }

    /** Takes a check aboard, if it has a place: a key has one limit in a flight, and there are only so many keys and questions. */
    boolean board(Check check) {
        int[] mine = new int[check.keys.size()];
        int next = keys.size();
        int i = 0;
        for (Charge charge : check.charges) {
            for (Limit limit : charge.policy().limits()) {
                Integer known = next == 0 ? null : place(check.keys.get(i));
                if (known != null && !limits.get(known).equals(limit)) {
                    return false;
                }
                mine[i] = known == null ? next : known;
                next = known == null ? next + 1 : next;
                i++;
            }
        }
        if (next > MOST_KEYS && !keys.isEmpty()) {
            return false;
        }
        Run run = equalBefore(check, mine);
        if (run == null) {
            if (parts + mine.length > MOST_PARTS && !keys.isEmpty()) {
                return false;
            }
            run = new Run(check, mine);
            runs.add(run);
            parts += mine.length;
            add(check, run);
        }
        run.all.add(check);
        checks++;
        return true;
    }

    private @Nullable Integer place(String key) {
        Map<String, Integer> known = places;
        if (known == null) {
            known = new HashMap<>();
            for (int i = 0; i < keys.size(); i++) {
                known.put((String) keys.get(i), i);
            }
            places = known;
        }
        return known.get(key);
    }

    /** The checks like this one after which nobody asked about any of its keys. */
    private @Nullable Run equalBefore(Check check, int[] mine) {
        if (keys.size() <= mine[0]) {
            return null;
        }
        Run run = lastRuns.get(mine[0]);
        for (int place : mine) {
            if (place >= keys.size() || lastRuns.get(place) != run) {
                return null;
            }
        }
        return run.all.size() < MOST_EQUAL && check.asksAs(run.first) ? run : null;
    }

    private void add(Check check, Run run) {
        int i = 0;
        for (Charge charge : check.charges) {
            for (Limit limit : charge.policy().limits()) {
                int place = run.places[i];
                if (place < keys.size()) {
                    lastRuns.set(place, run);
                } else {
                    if (places != null) {
                        places.put(check.keys.get(i), place);
                    }
                    keys.add(check.keys.get(i));
                    limits.add(limit);
                    lastRuns.add(run);
                }
                i++;
            }
        }
    }

    int checks() {
        return checks;
    }

    List<Object> keys() {
        return keys;
    }

    /** The argument of {@code acquire.lua}, made right before it is sent. */
    byte[] argument(long nowMicros) {
        sentNanos = System.nanoTime();
        Message out = Message.ofSize(HEADER + Message.LIMIT * keys.size() + CHECK * runs.size() + PART * parts);
        out.put(nowMicros, HEADER);
        limits.forEach(out::put);
        for (Run run : runs) {
            out.put(run.first.spends ? 1 : 0, 1);
            out.put(run.all.size(), 2);
            out.put(run.places.length, 2);
            int i = 0;
            for (Charge charge : run.first.charges) {
                for (Limit limit : charge.policy().limits()) {
                    out.put(run.places[i] + 1, 2);
                    out.putCost(charge.cost());
                    out.put(limit.slotWithinMicros(charge.patienceMicros()), 6);
                    i++;
                }
            }
        }
        return out.bytes();
    }

    /** Completes each check with its part of the reply of {@code acquire.lua}. */
    void landed(byte[] reply) {
        receivedNanos = System.nanoTime();
        Message in = Message.received(reply);
        long now = in.get(HEADER);
        LimitState[] states = new LimitState[keys.size()];
        for (int i = 0; i < states.length; i++) {
            states[i] = in.state(limits.get(i));
        }
        for (Run run : runs) {
            int admitted = (int) in.get(2);
            if (admitted == FOREIGN) {
                BackendException foreign = foreign();
                run.all.forEach(check -> check.completeExceptionally(foreign));
            } else {
                answer(run, admitted, states, in, now);
            }
        }
    }

    private void answer(Run run, int admitted, LimitState[] states, Message in, long now) {
        int spent = run.first.spends ? admitted : 0;
        for (Check check : run.all.subList(0, spent)) {
            check.complete(charged(run, states, now));
        }
        LimitState[] left = new LimitState[run.places.length];
        int i = 0;
        for (Charge charge : run.first.charges) {
            for (Limit limit : charge.policy().limits()) {
                LimitState state = states[run.places[i]];
                left[i] = state instanceof SlidingLogState log
                        ? refused(log, limit, charge.cost(), in.get(7), now)
                        : state;
                i++;
            }
        }
        if (spent < run.all.size()) {
            boolean room = admitted > 0 && !run.first.spends;
            Answer refused = new Answer(Arrays.asList(left), room, false, 0, now, sentNanos, receivedNanos);
            run.all.subList(spent, run.all.size()).forEach(check -> check.complete(refused));
        }
    }

    /** A log as a call sees it that it has no room for: with the entry with whose end it has. */
    private static LimitState refused(SlidingLogState log, Limit limit, long cost, long needFrom, long now) {
        long need = log.live() + cost - limit.permits();
        if (need <= 0) {
            return log;
        }
        long grows = now + log.waitMicros(limit, log.remaining(limit, now) + 1, now) - limit.windowMicros();
        return SlidingLogState.digest(limit, log.live(), grows, log.newestMicros(), need, needFrom);
    }

    /** Spends in the states what the script has spent in its own. */
    private Answer charged(Run run, LimitState[] states, long now) {
        LimitState[] after = new LimitState[run.places.length];
        long wait = 0;
        int i = 0;
        for (Charge charge : run.first.charges) {
            for (Limit limit : charge.policy().limits()) {
                LimitState before = states[run.places[i]];
                wait = Math.max(wait, before.waitMicros(limit, charge.cost(), now));
                after[i] = before.spend(limit, charge.cost(), now);
                states[run.places[i]] = after[i];
                i++;
            }
        }
        return new Answer(Arrays.asList(after), true, true, wait, now, sentNanos, receivedNanos);
    }

    static BackendException foreign() {
        return new BackendException(
                BackendException.Reason.FOREIGN_STATE,
                "a key of the namespace holds something that is no state of a limit; it was left as it is",
                null);
    }

    /** Completes each check with the reason why there is no reply. */
    void failed(BackendException failure) {
        runs.forEach(run -> run.all.forEach(check -> check.completeExceptionally(failure)));
    }
}
