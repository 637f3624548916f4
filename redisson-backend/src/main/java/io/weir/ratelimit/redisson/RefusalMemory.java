// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What Redis told of the keys of refused calls, for at most a second: a caller who keeps calling while over the limit is refused
 * from it and costs Redis nothing.
 *
 * <p>What is remembered is the state of each limit, with which the same arithmetic answers as Redis's reply was read with. Redis's
 * clock is known to within the time that the reply took: Redis decided after the call was sent and before the reply was there. A
 * call is refused if a limit refuses it even at the latest of these instants, so nobody is refused for longer than by Redis; the
 * quotas are those of the earliest, so that the wait it tells is enough.
 *
 * <p>Places are many and fixed in number. Each is for any key that falls on it, and the newer takes it: callers who choose keys that
 * fall together only make this forget. Each place has a stamp, which rises whenever permits may have come back to a key there;
 * what was sent under an older stamp is not believed, however late its reply is handled.
 */
final class RefusalMemory {
    private static final int PLACES = 8_192;
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LEAST_WAIT_MICROS = 1_000;
    private static final int SPREAD = 0x9E3779B9;

    /** What a reply said of one limit; {@code cost} is what was asked for. */
    private record Told(
            Object key,
            Limit limit,
            long cost,
            LimitState state,
            long redisNowMicros,
            long sentNanos,
            long receivedNanos,
            long stamp) {

        /** The state of a log answers for the cost that was asked for only; that of any other algorithm for each. */
        boolean answers(Limit asked, long askedCost) {
            return limit.equals(asked) && (limit.algorithm() != Algorithm.SLIDING_LOG || cost == askedCost);
        }

        boolean isOld(long nowNanos) {
            return nowNanos - sentNanos > LONGEST_NANOS;
        }

        boolean refusesStill(long askedCost, long nowNanos) {
            long latest = latestMicros(nowNanos);
            return !state.at(limit, latest).fits(limit, askedCost, latest);
        }

        Quota quota(Charge charge, int index, long nowNanos) {
            long earliest = earliestMicros(nowNanos);
            return charge.policy().quota(index, state.at(limit, earliest), charge.cost(), 0, false, earliest);
        }

        private long earliestMicros(long nowNanos) {
            return redisNowMicros + sinceReceived(nowNanos) / 1_000;
        }

        private long latestMicros(long nowNanos) {
            long sinceSent = receivedNanos - sentNanos + sinceReceived(nowNanos);
            return redisNowMicros + (sinceSent + 999) / 1_000;
        }

        /** Whoever finds this looks after the reply was there, even if the instant was read before. */
        private long sinceReceived(long nowNanos) {
            return Math.max(0, nowNanos - receivedNanos);
        }
    }

    private final AtomicReferenceArray<@Nullable Told> places;
    private final AtomicLongArray stamps;

    RefusalMemory() {
        this(PLACES);
    }

    /** A memory with as many places, a power of two. */
    RefusalMemory(int places) {
        this.places = new AtomicReferenceArray<>(places);
        this.stamps = new AtomicLongArray(places);
    }

    /** Whether a refusal lasts long enough to be worth a place. */
    static boolean isWorthwhile(Decision.Rejected refusal) {
        return refusal.decisive().retryAfterMicros() >= LEAST_WAIT_MICROS;
    }

    /**
     * The refusal of a call that is certain to be refused. Empty if Redis must be asked: a limit is not known, or each may have
     * room.
     *
     * @param keys the stored key of each limit, in the order of the charges and their limits
     * @param nowNanos a monotonic instant
     */
    Optional<Decision.Rejected> recall(List<Charge> charges, List<?> keys, long nowNanos) {
        if (!isRefused(charges, keys, nowNanos, null)) {
            return Optional.empty();
        }
        // Looked up once more with room for the quotas: most calls are not known, and pay for none.
        Quota[] quotas = new Quota[keys.size()];
        return isRefused(charges, keys, nowNanos, quotas)
                ? Optional.of(new Decision.Rejected(List.of(quotas)))
                : Optional.empty();
    }

    private boolean isRefused(List<Charge> charges, List<?> keys, long nowNanos, Quota @Nullable [] quotas) {
        boolean refused = false;
        int i = 0;
        for (int of = 0; of < charges.size(); of++) {
            Charge charge = charges.get(of);
            List<Limit> limits = charge.policy().limits();
            for (int limit = 0; limit < limits.size(); limit++) {
                Told told = told(keys.get(i), nowNanos);
                if (told == null || !told.answers(limits.get(limit), charge.cost())) {
                    return false;
                }
                refused = refused || told.refusesStill(charge.cost(), nowNanos);
                if (quotas != null) {
                    quotas[i] = told.quota(charge, limit, nowNanos);
                }
                i++;
            }
        }
        return refused;
    }

    private @Nullable Told told(Object key, long nowNanos) {
        int place = place(key);
        Told told = places.get(place);
        return told != null && told.key.equals(key) && told.stamp == stamps.get(place) && !told.isOld(nowNanos)
                ? told
                : null;
    }

    /** What {@link #remember} wants to know: read before a call is sent. */
    long stamp(List<?> keys) {
        long sum = 0;
        for (int i = 0; i < keys.size(); i++) {
            sum += stamps.get(place(keys.get(i)));
        }
        return sum;
    }

    /**
     * Takes in the reply to a call that was refused.
     *
     * @param states of each limit, as the reply told them
     * @param redisNowMicros the instant of Redis's clock at which it decided
     * @param sentNanos a monotonic instant before the call left
     * @param receivedNanos a monotonic instant after the reply was there
     * @param stamp {@link #stamp} of the keys before the call left
     */
    void remember(
            List<Charge> charges,
            List<?> keys,
            List<? extends LimitState> states,
            long redisNowMicros,
            long sentNanos,
            long receivedNanos,
            long stamp) {
        Told[] all = new Told[keys.size()];
        long sum = 0;
        int i = 0;
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                Object key = keys.get(i);
                long now = stamps.get(place(key));
                all[i] = new Told(
                        key, limit, charge.cost(), states.get(i), redisNowMicros, sentNanos, receivedNanos, now);
                sum += now;
                i++;
            }
        }
        // Stamps only rise, so the sum is the same only if each of them is.
        if (sum == stamp) {
            for (Told told : all) {
                put(told);
            }
        }
    }

    /** Replies can be handled in another order than they came. Who loses the race for a place has lost to a newer one as well. */
    private void put(Told told) {
        int place = place(told.key);
        Told before = places.get(place);
        boolean outdone = before != null
                && before.key.equals(told.key)
                && before.stamp == told.stamp
                && before.sentNanos - told.sentNanos > 0;
        if (!outdone) {
            places.compareAndSet(place, before, told);
        }
    }

    /**
     * Forgets what a call that was let in has changed. What spends makes no refusal wrong, so a reply that is under way may be
     * remembered after it.
     */
    void admitted(List<?> keys) {
        for (int i = 0; i < keys.size(); i++) {
            int place = place(keys.get(i));
            Told told = places.get(place);
            if (told != null && told.key.equals(keys.get(i))) {
                places.compareAndSet(place, told, null);
            }
        }
    }

    /** Forgets keys to which permits come back, and what calls that were sent before will say of them. */
    void forget(List<?> keys) {
        for (int i = 0; i < keys.size(); i++) {
            forget(place(keys.get(i)));
        }
    }

    private void forget(int place) {
        stamps.incrementAndGet(place);
        places.set(place, null);
    }

    private int place(Object key) {
        int hash = key.hashCode() * SPREAD;
        return (hash ^ hash >>> 16) & places.length() - 1;
    }
}
