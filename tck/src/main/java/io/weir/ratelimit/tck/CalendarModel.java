// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.Limit;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The calendar limit as a list of the spends of one period. */
final class CalendarModel extends ReferenceModel {
    private static final Instant ORIGIN = Instant.parse("2025-01-01T00:00:00Z");
    private static final long MICROS = 1_000_000;

    private final List<Spend> spends = new ArrayList<>();
    private ReferenceCalendar calendar;

    /** The instant of the latest spend. */
    private long latest;

    /** The end of its period. */
    private long end;

    /** Whether a settlement has charged more permits than the limit has. */
    private boolean inDebt;

    CalendarModel(CalendarLimit limit) {
        super(limit);
        this.calendar = new ReferenceCalendar(limit.period());
    }

    @Override
    void change(Limit changed) {
        super.change(changed);
        calendar = new ReferenceCalendar(((CalendarLimit) changed).period());
    }

    @Override
    boolean untouched(long now) {
        return spent(now).signum() == 0;
    }

    @Override
    boolean fits(long cost, long now) {
        return spent(now).add(big(cost)).compareTo(big(limit.permits())) <= 0;
    }

    @Override
    Spend spend(long cost, long now) {
        prepare(now);
        latest = now;
        end = periodEnd(now);
        Spend spend = new Spend(big(cost));
        spends.add(spend);
        return spend;
    }

    @Override
    void reject(long now) {
        if (now < latest) {
            prepare(now);
        }
    }

    @Override
    void refund(Spend spend, long now) {
        spend.amount = BigInteger.ZERO;
    }

    @Override
    void reduce(Spend spend, long less, long now) {
        spend.amount = spend.amount.subtract(big(less)).max(BigInteger.ZERO);
    }

    @Override
    void raise(Spend spend, long more, long now) {
        if (spends.contains(spend) && now < end) {
            BigInteger room = mostPermits().subtract(sum(spends)).max(BigInteger.ZERO);
            spend.amount = spend.amount.add(big(more).min(room));
            inDebt |= sum(spends).compareTo(big(limit.permits())) > 0 && room.signum() > 0;
        }
    }

    @Override
    BigInteger mostPermits() {
        return big(limit.permits()).multiply(big(2)).min(big(Limit.MAX_PERMITS + 1));
    }

    @Override
    void refund(long cost, long now) {
        prepare(now);
        deduct(spends, big(cost));
    }

    @Override
    ReferenceModel asOf(long now) {
        CalendarModel model = new CalendarModel((CalendarLimit) limit);
        model.calendar = calendar;
        model.spends.addAll(spends);
        model.latest = Math.min(latest, now);
        model.end = end;
        model.inDebt = inDebt;
        return model;
    }

    @Override
    void reset() {
        spends.clear();
        inDebt = false;
    }

    @Override
    Duration window(long now) {
        return Duration.ofSeconds(calendar.end(epochSecond(now)) - calendar.start(epochSecond(now)));
    }

    @Override
    Optional<ZonedDateTime> periodEnd(long now, boolean untouched) {
        long micros = untouched ? periodEnd(now) : Math.min(end, periodEnd(now));
        return Optional.of(ORIGIN.plusSeconds(micros / MICROS)
                .atZone(((CalendarLimit) limit).period().zone()));
    }

    /** Prepares a write: removes the spends if none counts, limits them to the limit, and moves a spend in the future to now. */
    private void prepare(long now) {
        if (untouched(now)) {
            spends.clear();
        } else {
            deduct(spends, sum(spends).subtract(spent(now)));
            latest = Math.min(latest, now);
            end = Math.min(end, periodEnd(now));
        }
        inDebt &= sum(spends).compareTo(big(limit.permits())) > 0;
    }

    private BigInteger spent(long now) {
        boolean counts = now < end && Math.min(latest, now) >= periodStart(now);
        return counts ? sum(spends).min(inDebt ? mostPermits() : big(limit.permits())) : BigInteger.ZERO;
    }

    private long periodStart(long now) {
        return micros(calendar.start(epochSecond(now)));
    }

    private long periodEnd(long now) {
        return micros(calendar.end(epochSecond(now)));
    }

    private static long epochSecond(long micros) {
        return ORIGIN.getEpochSecond() + Math.floorDiv(micros, MICROS);
    }

    private static long micros(long epochSecond) {
        return (epochSecond - ORIGIN.getEpochSecond()) * MICROS;
    }
}
