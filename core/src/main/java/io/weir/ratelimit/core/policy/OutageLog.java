// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Selects one failure of each outage for the log. An outage begins with a failure and ends with a success. A name has at most one line per
 * minute, because some subjects of a name can fail while others succeed.
 */
final class OutageLog {
    static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    private final Map<String, Line> lines = new ConcurrentHashMap<>();

    private record Line(long atNanos, boolean ended) {}

    OutageLog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Records a failure. Returns whether it is to be logged. */
    boolean failed(String name) {
        Line last = lines.get(name);
        if (last == null) {
            return lines.putIfAbsent(name, new Line(nanoTime.getAsLong(), false)) == null;
        }
        long now = nanoTime.getAsLong();
        return last.ended && now - last.atNanos >= PAUSE_NANOS && lines.replace(name, last, new Line(now, false));
    }

    void succeeded(String name) {
        lines.computeIfPresent(name, (any, last) -> last.ended ? last : new Line(last.atNanos, true));
    }
}
