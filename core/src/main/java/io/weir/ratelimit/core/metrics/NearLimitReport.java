// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A task that reports the longest time for which a key has been near a limit, for each policy in force. */
public record NearLimitReport(
        Supplier<Set<String>> policies, TopKeysTracker topKeys, Consumer<Map<String, Duration>> listener)
        implements Runnable {
    public static final long INTERVAL_MICROS = TimeUnit.MINUTES.toMicros(1);

    @Override
    public void run() {
        Map<String, Duration> longest = new HashMap<>();
        policies.get().forEach(policy -> longest.put(policy, topKeys.longestNearLimit(policy)));
        listener.accept(longest);
    }
}
