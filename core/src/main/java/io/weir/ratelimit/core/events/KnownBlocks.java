// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The blocks of keys that this instance knows of: those that it has imposed, and those that rejected its calls. It also knows the blocks
 * that it has ended, because other instances can still list them.
 *
 * <p>It keeps at most {@link #MAX_BLOCKS} blocks, those that end last.
 */
public final class KnownBlocks {
    public static final int MAX_BLOCKS = 256;

    /** The greatest number of ended blocks. The ones that ended last are kept. */
    public static final int MAX_ENDED = 16;

    /** The time for which an ended block is kept if its former end is not known. */
    private static final Duration UNKNOWN_REST = Duration.ofDays(1);

    /**
     * The time for which what is known of a key is not replaced by calls. A known rejection can be older than the end of a block. A greater
     * difference of two ends means two blocks.
     */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final Comparator<Map.Entry<Key, Entry>> EARLIEST_END =
            Comparator.comparingLong(entry -> entry.getValue().endNanos);

    private final LongSupplier nanoTime;
    private final long origin;

    /** Guarded by this for changes. */
    private final Map<Key, Entry> entries = new ConcurrentHashMap<>();

    /** The blocks that were ended. Guarded by this for changes. */
    private final Map<Key, Entry> ended = new ConcurrentHashMap<>();

    /** Blocks that end earlier have no place. Guarded by this for changes. */
    private volatile long firstEndNanos = Long.MIN_VALUE;

    /** The cause of a block. */
    public enum Cause {
        /** Rejections of the key, as {@code penalty.after} configures. */
        PENALTY,
        /** An operator. */
        OPERATOR,
        /** An answer of the upstream of a REST client. */
        PAUSE,
        /** Another instance or application code. */
        UNKNOWN,
        /** There is no block: an operator has ended it. */
        ENDED
    }

    /**
     * A block.
     *
     * @param storedKey the stored key, which must not be shown
     * @param rest the time until the end; for an ended block, the time until which it would have lasted
     * @param seen the time since this instance imposed, met or ended the block
     * @param penalty the number of the penalty among those of the key; 0 if the cause is not a penalty
     * @param length the length of the penalty; zero if the cause is not a penalty
     */
    public record Block(
            String policy, String storedKey, Cause cause, Duration rest, Duration seen, int penalty, Duration length) {
        /** Returns the block as it is known after some time, with a rest of zero or less if it is over. */
        public Block later(Duration time) {
            return new Block(policy, storedKey, cause, rest.minus(time), seen.plus(time), penalty, length);
        }
    }

    private record Key(String policy, String storedKey) {}

    private record Entry(Cause cause, long endNanos, long seenNanos, int penalty, Duration length) {}

    /** Creates an empty list with a monotonic clock. */
    public KnownBlocks(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.origin = nanoTime.getAsLong();
    }

    /** Adds a penalty of a key, the first one or a later one. */
    public void penalized(String policy, String storedKey, Duration length, int number) {
        put(policy, storedKey, Cause.PENALTY, length, number, length);
    }

    /** Adds a block by an operator, given the time until its end. */
    public void blocked(String policy, String storedKey, Duration rest) {
        put(policy, storedKey, Cause.OPERATOR, rest, 0, Duration.ZERO);
    }

    /** Adds a pause of a REST client, given the time until the end of the block in force. A longer block of the key remains. */
    public synchronized void paused(String policy, String storedKey, Duration rest) {
        Entry known = entries.get(new Key(policy, storedKey));
        if (known != null
                && (known.cause == Cause.OPERATOR || known.cause == Cause.PENALTY)
                && known.endNanos >= now() + rest.toNanos() - RECENT_NANOS) {
            return;
        }
        put(policy, storedKey, Cause.PAUSE, rest, 0, Duration.ZERO);
    }

    /** Removes a block, because it was ended or does not exist. */
    public synchronized void ended(String policy, String storedKey) {
        Key key = new Key(policy, storedKey);
        long now = now();
        Entry known = entries.remove(key);
        long end = known == null ? now + UNKNOWN_REST.toNanos() : known.endNanos;
        ended.put(key, new Entry(Cause.ENDED, end, now, 0, Duration.ZERO));
        if (ended.size() > MAX_ENDED) {
            ended.entrySet().stream()
                    .min(Comparator.comparingLong(entry -> entry.getValue().seenNanos))
                    .ifPresent(oldest -> ended.remove(oldest.getKey()));
        }
    }

    /** Notes a block that has rejected a charge. A key that is noted often costs a look-up without a lock. */
    public void met(Charge charge, List<Quota> quotas) {
        long rest = 0;
        for (int i = 0; i < quotas.size(); i++) {
            rest = Math.max(rest, Micros.blockedFor(quotas.get(i)));
        }
        met(charge.policy().policy(), charge.storedKey(), rest);
    }

    /** Notes a block that has rejected a call, given the time until its end. */
    public void met(String policy, String storedKey, long restMicros) {
        long now = now();
        long end = now + TimeUnit.MICROSECONDS.toNanos(restMicros);
        Key key = new Key(policy, storedKey);
        Entry known = entries.get(key);
        if (known != null && isRecent(known, now) && end - known.endNanos <= RECENT_NANOS) {
            return;
        }
        Entry over = known == null && !ended.isEmpty() ? ended.get(key) : null;
        if (over != null && isRecent(over, now)) {
            return;
        }
        if (known == null && end <= firstEndNanos) {
            return;
        }
        Duration rest = Duration.ofNanos(end - now);
        if (known != null && Math.abs(end - known.endNanos) <= RECENT_NANOS) {
            put(policy, storedKey, known.cause, rest, known.penalty, known.length);
        } else {
            put(policy, storedKey, Cause.UNKNOWN, rest, 0, Duration.ZERO);
        }
    }

    private static boolean isRecent(Entry entry, long now) {
        return now - entry.seenNanos < RECENT_NANOS;
    }

    private synchronized void put(
            String policy, String storedKey, Cause cause, Duration rest, int penalty, Duration length) {
        long now = now();
        Entry entry = new Entry(cause, now + rest.toNanos(), now, penalty, length);
        Key key = new Key(policy, storedKey);
        if (entries.size() >= MAX_BLOCKS && !entries.containsKey(key)) {
            removePast(now);
            if (entries.size() >= MAX_BLOCKS) {
                Map.Entry<Key, Entry> first =
                        entries.entrySet().stream().min(EARLIEST_END).orElseThrow();
                firstEndNanos = first.getValue().endNanos;
                if (entry.endNanos <= firstEndNanos) {
                    return;
                }
                entries.remove(first.getKey());
            }
        }
        entries.put(key, entry);
        ended.remove(key);
    }

    private void removePast(long now) {
        entries.values().removeIf(known -> known.endNanos <= now);
        firstEndNanos = Long.MIN_VALUE;
    }

    /** Returns the time since the creation, which cannot overflow. */
    private long now() {
        return nanoTime.getAsLong() - origin;
    }

    /** Returns the blocks, the last end first, and after them those that were ended early. */
    public synchronized List<Block> list() {
        long now = now();
        removePast(now);
        ended.values().removeIf(known -> known.endNanos <= now);
        return Stream.of(entries, ended)
                .flatMap(blocks -> blocks.entrySet().stream().sorted(EARLIEST_END.reversed()))
                .map(entry -> block(entry.getKey(), entry.getValue(), now))
                .toList();
    }

    private static Block block(Key key, Entry entry, long now) {
        return new Block(
                key.policy,
                key.storedKey,
                entry.cause,
                Duration.ofNanos(entry.endNanos - now),
                Duration.ofNanos(now - entry.seenNanos),
                entry.penalty,
                entry.length);
    }
}
