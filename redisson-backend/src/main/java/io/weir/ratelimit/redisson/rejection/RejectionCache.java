// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Cache of rejections, by which a caller that exceeds a limit and keeps calling is rejected without a call to Redis. It has two kinds of
 * entries.
 *
 * <p>A {@link CachedRejection} has the states of one key, for at most one second, or until its end while Redis does not decide: see
 * {@code KnownRejections}. The arithmetic that read Redis's reply decides on later calls as well. Redis's clock is known to within the
 * duration of the script call. A call is rejected if a limit has no room even at the latest time that the clock can show, so no call is
 * rejected for longer than by Redis.
 *
 * <p>A {@link HeldRejection} concerns a key of a policy with leases, and is kept for at most 20 ms while many calls of the key are
 * rejected. The permits of a sliding window or a bucket return one by one. If each of them were acquired at once, Redis would be called
 * as often as the limit allows, and once more for each call in between. Meanwhile the limit may allow a little less, but never more.
 *
 * <p>Each kind has a fixed number of entries. Keys with the same index replace each other, so callers that choose such keys cause calls to
 * Redis and nothing else. Each index has a version, which rises whenever permits may have returned to a key. A reply to a request that was
 * made under an older version is not cached.
 */
public final class RejectionCache {
    private static final int STATES = 8_192;
    private static final int HOLDS = 1_024;
    private static final int HASH_FACTOR = 0x9E3779B9;
    private static final long MIN_RETRY_AFTER_MICROS = 1_000;

    private final RedisKeys keys;
    private final boolean enabled;
    private final AtomicReferenceArray<@Nullable CachedRejection> states;
    private final AtomicLongArray versions;
    private final AtomicReferenceArray<@Nullable HeldRejection> holds = new AtomicReferenceArray<>(HOLDS);
    private final HotKeyDetector rejectedKeys = new HotKeyDetector();

    public RejectionCache(RedisKeys keys) {
        this(keys, STATES, true);
    }

    /** Creates a cache with as many entries for states, a power of two. */
    public RejectionCache(RedisKeys keys, int states) {
        this(keys, states, true);
    }

    private RejectionCache(RedisKeys keys, int states, boolean enabled) {
        this.keys = keys;
        this.enabled = enabled;
        this.states = new AtomicReferenceArray<>(states);
        this.versions = new AtomicLongArray(states);
    }

    /** Returns a cache that is always empty. It is for a clock that is not Redis's, since entries age by the clock of this instance. */
    public static RejectionCache disabled(RedisKeys keys) {
        return new RejectionCache(keys, 1, false);
    }

    /** Returns whether a rejection lasts long enough to be cached. */
    public static boolean isWorthCaching(Decision.Rejected rejection) {
        return Micros.retryAfter(rejection.decisiveQuota()) >= MIN_RETRY_AFTER_MICROS;
    }

    /**
     * Returns the rejection of a call that Redis would certainly reject; empty if the state of a limit is unknown, or all limits may have
     * room.
     */
    public Optional<Decision.Rejected> find(List<Charge> charges, List<String> storedKeys, long nowNanos) {
        if (!enabled || !rejects(charges, storedKeys, nowNanos, null)) {
            return Optional.empty();
        }
        // Found once more with room for the results: most calls are not in the cache and allocate nothing.
        List<ChargeResult> results = new ArrayList<>(charges.size());
        return rejects(charges, storedKeys, nowNanos, results)
                ? Optional.of(new Decision.Rejected(results))
                : Optional.empty();
    }

    private boolean rejects(
            List<Charge> charges, List<String> storedKeys, long nowNanos, @Nullable List<ChargeResult> results) {
        boolean rejected = false;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            CachedRejection cached = state(storedKeys.get(i), nowNanos);
            if (cached == null || !cached.decidesOn(charge)) {
                return false;
            }
            rejected = rejected || cached.rejects(charge.cost(), nowNanos);
            if (results != null) {
                results.add(cached.result(charge, nowNanos));
            }
        }
        return rejected;
    }

    private @Nullable CachedRejection state(String key, long nowNanos) {
        CachedRejection cached = latest(key);
        return cached != null && !cached.isExpired(nowNanos) ? cached : null;
    }

    /** Returns the latest states of a key with which Redis rejected a call, of any age; null if it is unknown or permits have returned. */
    @Nullable
    public CachedRejection latest(String key) {
        int index = stateIndex(key);
        CachedRejection cached = states.get(index);
        return cached != null && cached.key().equals(key) && cached.version() == versions.get(index) ? cached : null;
    }

    /** Returns the version of keys, which is read before a request is sent and passed to {@link #put}. */
    public long version(List<String> storedKeys) {
        long sum = 0;
        for (int i = 0; i < storedKeys.size(); i++) {
            sum += versions.get(stateIndex(storedKeys.get(i)));
        }
        return sum;
    }

    /** Caches the states of a rejected call, by the {@link #version} of the keys before the request was sent. */
    public void put(List<ChargeStates> charges, List<String> storedKeys, RedisTime time, long version) {
        if (!enabled || haveSlots(charges)) {
            return;
        }
        CachedRejection[] rejections = new CachedRejection[storedKeys.size()];
        long sum = 0;
        for (int i = 0; i < rejections.length; i++) {
            String storedKey = storedKeys.get(i);
            long current = versions.get(stateIndex(storedKey));
            ChargeStates each = charges.get(i);
            rejections[i] = new CachedRejection(
                    storedKey, each.charge().policy().limits(), each.charge().cost(), each.states(), time, current);
            sum += current;
        }
        // Versions only rise, so equal sums mean equal versions.
        if (sum == version) {
            for (CachedRejection rejection : rejections) {
                put(rejection);
            }
        }
    }

    /** Returns whether a call took a slot or lacked one. Nobody knows when a slot is free, so such a rejection is not cached. */
    private static boolean haveSlots(List<ChargeStates> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).charge().policy().hasConcurrency()) {
                return true;
            }
        }
        return false;
    }

    /** Keeps the newer of two states: replies may be processed in another order than they arrived. A lost race is lost to a newer state. */
    private void put(CachedRejection rejection) {
        int index = stateIndex(rejection.key());
        CachedRejection before = states.get(index);
        boolean isOlder = before != null
                && before.key().equals(rejection.key())
                && before.version() == rejection.version()
                && before.time().sentNanos() - rejection.time().sentNanos() > 0;
        if (!isOlder) {
            states.compareAndSet(index, before, rejection);
        }
    }

    /**
     * Removes the states that an allowed call has changed. Replies in flight may still be cached, since spending makes no rejection
     * wrong. States of the same or a later script call remain: the thread of the allowed call may come late, when a later call has been
     * rejected until a known time.
     */
    public void remove(List<String> storedKeys, RedisTime spent) {
        if (!enabled) {
            return;
        }
        for (int i = 0; i < storedKeys.size(); i++) {
            int index = stateIndex(storedKeys.get(i));
            CachedRejection cached = states.get(index);
            if (cached != null
                    && cached.key().equals(storedKeys.get(i))
                    && spent.sentNanos() - cached.time().sentNanos() > 0) {
                states.compareAndSet(index, cached, null);
            }
        }
    }

    /** Removes all entries of keys to which permits return, and makes sure that replies to earlier requests are not cached. */
    public void invalidate(List<String> storedKeys) {
        if (!enabled) {
            return;
        }
        for (int i = 0; i < storedKeys.size(); i++) {
            String key = storedKeys.get(i);
            int index = stateIndex(key);
            versions.incrementAndGet(index);
            states.set(index, null);
            HeldRejection held = hold(key);
            if (held != null) {
                holds.compareAndSet(holdIndex(key), held, null);
            }
        }
    }

    /** Returns the held rejection of a call with one charge. */
    public Optional<Decision.Rejected> findHold(Charge charge, long nowNanos) {
        HeldRejection held = hold(keys.of(charge));
        return held != null && held.appliesTo(charge, nowNanos)
                ? Optional.of(held.rejection(nowNanos))
                : Optional.empty();
    }

    /** Records the rejection of a call with one charge, and holds it if many calls of the key are rejected. */
    public void recordRejection(Charge charge, Decision.Rejected rejection, long nowNanos) {
        String key = keys.of(charge);
        // A cost that no wait helps says nothing about other costs.
        if (rejectedKeys.isHot(key, nowNanos) && rejection.retryAfter().isPresent()) {
            holds.set(holdIndex(key), HeldRejection.of(key, charge, rejection, nowNanos));
        }
    }

    /** Returns whether rejections of a key are held, or were a short time ago. */
    public boolean isOverloaded(String key, long nowNanos) {
        HeldRejection held = hold(key);
        return held != null && held.isRecent(nowNanos);
    }

    private @Nullable HeldRejection hold(String key) {
        HeldRejection held = holds.get(holdIndex(key));
        return held != null && held.key().equals(key) ? held : null;
    }

    private int stateIndex(String key) {
        return spread(key) & states.length() - 1;
    }

    private static int holdIndex(String key) {
        return spread(key) & HOLDS - 1;
    }

    private static int spread(String key) {
        int hash = key.hashCode() * HASH_FACTOR;
        return hash ^ hash >>> 16;
    }
}
