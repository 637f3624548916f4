// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.BlockedState;
import io.weir.ratelimit.spi.PenaltyRule;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The rejections and the penalties of keys, up to a maximum number of keys. Rejections of other keys are not counted. */
final class PenaltyCounts {
    /** The state of a key, whose penalties are remembered until an instant. */
    private record Counted(long windowMicros, long startMicros, long rejections, int number, long memoryEndMicros) {
        /** Tests whether an instant is in the window, which is not that of the future if the clock has stepped back. */
        boolean isCounting(long nowMicros) {
            return startMicros <= nowMicros && nowMicros - startMicros < windowMicros;
        }

        boolean isOver(long nowMicros) {
            return nowMicros >= memoryEndMicros && !isCounting(nowMicros);
        }
    }

    private static final long SEARCH_INTERVAL_MICROS = TimeUnit.SECONDS.toMicros(1);
    private static final Counted NOTHING = new Counted(0, 0, 0, 0, 0);

    private final int maxKeys;
    private final Map<StateKey, Counted> keys = new HashMap<>();

    /** Until when a full table is not searched again, in microseconds: a search that finds nothing costs much and helps nobody. */
    private long searchMicros = Long.MIN_VALUE;

    PenaltyCounts(int maxKeys) {
        this.maxKeys = maxKeys;
    }

    /** Counts rejections of a key that is not blocked. Returns the number of the penalty that they lead to, 0 for none. */
    synchronized int count(String policy, String storedKey, long rejections, PenaltyRule rule, long nowMicros) {
        StateKey key = StateKey.of(storedKey, policy);
        Counted before = keys.get(key);
        if (before == null && keys.size() >= maxKeys) {
            // If the clock has stepped back, the table is searched again.
            if (nowMicros < searchMicros && nowMicros >= searchMicros - SEARCH_INTERVAL_MICROS) {
                return 0;
            }
            keys.values().removeIf(counted -> counted.isOver(nowMicros));
            if (keys.size() >= maxKeys) {
                searchMicros = nowMicros + SEARCH_INTERVAL_MICROS;
                return 0;
            }
        }
        Counted counted = counted(before == null ? NOTHING : before, rejections, rule, nowMicros);
        if (counted.rejections < rule.rejections()) {
            keys.put(key, counted);
            return 0;
        }
        int number = counted.number + 1;
        long end = nowMicros + BlockedState.micros(rule, counted.number);
        keys.put(key, new Counted(counted.windowMicros, nowMicros, 0, number, end + rule.longestMicros()));
        return number;
    }

    private static Counted counted(Counted before, long rejections, PenaltyRule rule, long nowMicros) {
        long window = TimeUnit.MILLISECONDS.toMicros(rule.window().toMillis());
        boolean isSameWindow = before.windowMicros == window && before.isCounting(nowMicros);
        boolean isRemembered = nowMicros < before.memoryEndMicros;
        return new Counted(
                window,
                isSameWindow ? before.startMicros : nowMicros,
                (isSameWindow ? before.rejections : 0) + rejections,
                isRemembered ? before.number : 0,
                isRemembered ? before.memoryEndMicros : 0);
    }

    synchronized void forget(String policy, String storedKey) {
        keys.remove(StateKey.of(storedKey, policy));
    }
}
