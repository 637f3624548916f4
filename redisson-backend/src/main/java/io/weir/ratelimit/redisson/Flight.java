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
    private static final int LOOKS = 0;
    private static final int SPENDS = 1;
    private static final int FOLLOWS = 2;
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

    /** Answers to checks that hear after those that travel with them. */
    private final List<Runnable> last = new ArrayList<>(0);

    private @Nullable Map<String, Integer> places;
    private int checks;
    private int parts;
    private long latestNanos;

    private long sentNanos;
    private long receivedNanos;

    /** Whether it has left the air, or is not waited for; guarded by the lane's lock. */
    boolean over;

    /** Whether the first of its passengers gave up at his deadline; guarded by the lane's lock. */
    boolean late;

    Flight(Check first) {
        board(first);
    }

    /** Takes a check aboard, if it has a place: a key has one limit in a flight, and there are only so many keys and questions. */
    boolean board(Check check) {
        int[] mine = places(check, keys.size());
        if (mine == null || !check.shadows.isEmpty()) {
            return mine != null && boardAsOne(check, mine);
        }
        if (after(mine, keys.size()) > MOST_KEYS && !keys.isEmpty()) {
            return false;
        }
        Run run = equalBefore(check, mine);
        if (run == null) {
            if (parts + mine.length > MOST_PARTS && !keys.isEmpty()) {
                return false;
            }
            run = add(check, mine);
        }
        run.all.add(check);
        counts(check);
        return true;
    }

    private void counts(Check check) {
        latestNanos = checks == 0 || check.deadlineNanos - latestNanos > 0 ? check.deadlineNanos : latestNanos;
        checks++;
    }

    /** Takes a check aboard with those that travel with it, or none of them. */
    private boolean boardAsOne(Check check, int[] first) {
        List<int[]> others = new ArrayList<>();
        int next = after(first, keys.size());
        int named = first.length;
        for (Check shadow : check.shadows) {
            int[] places = places(shadow, next);
            if (places == null) {
                return false;
            }
            others.add(places);
            next = after(places, next);
            named += places.length;
        }
        if ((next > MOST_KEYS || parts + named > MOST_PARTS) && !keys.isEmpty()) {
            return false;
        }
        add(check, first).all.add(check);
        for (int i = 0; i < others.size(); i++) {
            Check shadow = check.shadows.get(i);
            add(shadow, others.get(i)).all.add(shadow);
        }
        counts(check);
        return true;
    }

    /** The places of a check's keys, new ones from a place on; null if one of them is aboard with another limit. */
    private int @Nullable [] places(Check check, int from) {
        int[] mine = new int[check.keys.size()];
        int next = from;
        int i = 0;
        for (Charge charge : check.charges) {
            for (Limit limit : charge.policy().limits()) {
                Integer known = next == 0 ? null : place(check.keys.get(i));
                if (known != null && !limits.get(known).equals(limit)) {
                    return null;
                }
                mine[i] = known == null ? next : known;
                next = known == null ? next + 1 : next;
                i++;
            }
        }
        return mine;
    }

    /** The next free place after those that are taken from a place on. */
    private static int after(int[] mine, int from) {
        int next = from;
        for (int place : mine) {
            next = Math.max(next, place + 1);
        }
        return next;
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

    private Run add(Check check, int[] mine) {
        Run run = new Run(check, mine);
        runs.add(run);
        parts += mine.length;
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
        return run;
    }

    int checks() {
        return checks;
    }

    /** Whether it finds out if Redis is back: one aboard does, also behind others that have waited for longer. */
    boolean isProbe() {
        return runs.stream().anyMatch(run -> run.first.probe);
    }

    /** Until when somebody aboard waits, as {@link System#nanoTime}. */
    long deadlineNanos() {
        return latestNanos;
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
            out.put(run.first.follows ? FOLLOWS : run.first.spends ? SPENDS : LOOKS, 1);
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
        boolean leads = false;
        for (Run run : runs) {
            int admitted = (int) in.get(2);
            if (admitted == FOREIGN) {
                BackendException foreign = foreign();
                run.all.forEach(check -> fail(check, foreign));
            } else {
                boolean spends = run.first.spends && (leads || !run.first.follows);
                answer(run, admitted, spends ? admitted : 0, states, in, now);
            }
            leads = run.first.follows ? leads : admitted > 0 && admitted != FOREIGN;
        }
        last.forEach(Runnable::run);
    }

    private void tell(Check check, Answer answer) {
        if (check.shadows.isEmpty()) {
            check.complete(answer);
        } else {
            last.add(() -> check.complete(answer));
        }
    }

    private void fail(Check check, BackendException failure) {
        if (check.shadows.isEmpty()) {
            check.completeExceptionally(failure);
        } else {
            last.add(() -> check.completeExceptionally(failure));
        }
    }

    private void answer(Run run, int admitted, int spent, LimitState[] states, Message in, long now) {
        for (Check check : run.all.subList(0, spent)) {
            tell(check, charged(run, states, now));
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
            boolean room = admitted > spent;
            Answer refused = new Answer(Arrays.asList(left), room, false, 0, now, sentNanos, receivedNanos);
            run.all.subList(spent, run.all.size()).forEach(check -> tell(check, refused));
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
