// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The state of a concurrency limit: the slots of the calls that run. Each slot has a number, by which exactly it is released, and an end,
 * at which it is free if its instance has not renewed it.
 *
 * @param earliestMicros an instant before which no slot ends, in microseconds of the backend's clock
 * @param latestMicros an instant after which no slot ends
 * @param next the number of the next slot, which the server determines; 0 if this process does
 * @param taken the number of the slot that the latest call has taken, 0 if there is none
 * @param forwardMicros by how much the clock of this process had stepped forward when the ends were determined; 0 for a server
 * @param slots the slots; null in the summary of a state
 */
public record ConcurrencyState(
        int held,
        long earliestMicros,
        long latestMicros,
        long next,
        long taken,
        long forwardMicros,
        @Nullable List<Slot> slots)
        implements LimitState {
    /** The number of the latest slot in this process. No other slot has it, so that a late release finds no slot of another call. */
    private static final AtomicLong LATEST = new AtomicLong();

    /** The longest retry-after, because the end of a call is unknown. */
    private static final long MAX_RETRY_AFTER_MICROS = 1_000_000;

    /** A slot with a number, 1 or more, which no other slot of the key has; it ends at an instant of the backend's clock. */
    public record Slot(long number, long endMicros) {}

    /** Returns the state of a key without calls. */
    static ConcurrencyState untouched() {
        return of(List.of(), 0, 0);
    }

    /** Returns the summary of a state that a server keeps: no slot ends before the earliest or after the latest instant. */
    public static ConcurrencyState summary(int held, long earliestMicros, long latestMicros, long next) {
        return new ConcurrencyState(held, earliestMicros, latestMicros, next, 0, 0, null);
    }

    private static ConcurrencyState of(List<Slot> slots, long taken, long forwardMicros) {
        long earliest = Long.MAX_VALUE;
        long latest = 0;
        for (Slot slot : slots) {
            earliest = Math.min(earliest, slot.endMicros());
            latest = Math.max(latest, slot.endMicros());
        }
        return new ConcurrencyState(slots.size(), earliest, latest, 0, taken, forwardMicros, List.copyOf(slots));
    }

    /** Returns this state without its slots, for a receipt. */
    public ConcurrencyState summary() {
        return new ConcurrencyState(held, earliestMicros, latestMicros, next, taken, forwardMicros, null);
    }

    /**
     * Returns the state after the clock of this process has stepped forward by so many microseconds in all. The ends of the slots move with
     * the clock: their calls have not run for longer.
     */
    public ConcurrencyState afterSteps(long steppedMicros) {
        long step = steppedMicros - forwardMicros;
        if (step == 0 || slots == null) {
            return this;
        }
        List<Slot> later = slots.stream()
                .map(slot -> new Slot(slot.number(), slot.endMicros() + step))
                .toList();
        return of(later, taken, steppedMicros);
    }

    @Override
    public ConcurrencyState asOf(Limit limit, long nowMicros) {
        if (nowMicros < earliestMicros || slots == null) {
            return this;
        }
        return of(slots.stream().filter(slot -> slot.endMicros() > nowMicros).toList(), taken, forwardMicros);
    }

    /** Returns false: a slot ends at the same instant, although the clock stepped back. Its call releases it in any case. */
    @Override
    public boolean isAfter(long nowMicros) {
        return false;
    }

    @Override
    public boolean hasRoom(Limit limit, long cost, long nowMicros) {
        return held < limit.permits();
    }

    /** {@inheritDoc} A call takes one slot, whatever its cost is. */
    @Override
    public ConcurrencyState spend(Limit limit, long cost, long nowMicros) {
        long end = nowMicros + limit.windowMicros();
        long number = next == 0 ? LATEST.incrementAndGet() : next;
        return new ConcurrencyState(
                held + 1,
                Math.min(earliestMicros, end),
                Math.max(latestMicros, end),
                next == 0 ? 0 : next + 1,
                number,
                forwardMicros,
                with(slots, new Slot(number, end)));
    }

    private static @Nullable List<Slot> with(@Nullable List<Slot> slots, Slot slot) {
        if (slots == null) {
            return null;
        }
        List<Slot> more = new ArrayList<>(slots.size() + 1);
        more.addAll(slots);
        more.add(slot);
        return Collections.unmodifiableList(more);
    }

    @Override
    public long remaining(Limit limit, long nowMicros) {
        return Math.max(0, limit.permits() - held);
    }

    /** {@inheritDoc} For a concurrency limit it is a recommendation, because the end of a call is unknown. */
    @Override
    public long retryAfterMicros(Limit limit, long cost, long nowMicros) {
        return hasRoom(limit, cost, nowMicros) ? 0 : untilFreeMicros(nowMicros);
    }

    /** Returns when to look for a free slot again: after a second, or when the first slot ends if its instance does not renew it. */
    private long untilFreeMicros(long nowMicros) {
        return held == 0
                ? MAX_RETRY_AFTER_MICROS
                : Math.max(1, Math.min(MAX_RETRY_AFTER_MICROS, earliestMicros - nowMicros));
    }

    @Override
    public long nextPermitAfterMicros(Limit limit, long remaining, long nowMicros) {
        return untilFreeMicros(nowMicros);
    }

    @Override
    public long resetAfterMicros(Limit limit, long nowMicros) {
        return held == 0 ? 0 : Math.max(0, latestMicros - nowMicros);
    }

    /** {@inheritDoc} A refund releases the slot. */
    @Override
    public ConcurrencyState refund(Limit limit, LimitState charged, long cost, long nowMicros) {
        return charged instanceof ConcurrencyState then ? release(then.taken) : this;
    }

    /** {@inheritDoc} The cost of a call has no effect on its slot. */
    @Override
    public ConcurrencyState settle(
            Limit latest, Limit limit, LimitState charged, long cost, long actualCost, long nowMicros) {
        return this;
    }

    @Override
    public ConcurrencyState raise(Limit limit, LimitState charged, long more, long nowMicros) {
        return this;
    }

    /** {@inheritDoc} Without a receipt, the slot of the call is unknown. */
    @Override
    public ConcurrencyState refund(Limit limit, long cost) {
        return this;
    }

    /** Returns the state without a slot; this one if it does not have the slot. */
    public ConcurrencyState release(long number) {
        List<Slot> rest = all().stream().filter(slot -> slot.number() != number).toList();
        return rest.size() == held ? this : of(rest, taken, forwardMicros);
    }

    /** Returns the state with a later end of a slot; this one if it does not have the slot. */
    public ConcurrencyState renew(long number, long endMicros) {
        List<Slot> renewed = all().stream()
                .map(slot -> slot.number() == number ? new Slot(number, endMicros) : slot)
                .toList();
        return of(renewed, taken, forwardMicros);
    }

    /** Tests whether the state has a slot. */
    public boolean has(long number) {
        return all().stream().anyMatch(slot -> slot.number() == number);
    }

    private List<Slot> all() {
        return slots == null ? List.of() : slots;
    }
}
