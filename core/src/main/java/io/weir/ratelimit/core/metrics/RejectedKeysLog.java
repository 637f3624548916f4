// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.topkeys.RejectedKeys;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A task that logs the keys with the most rejections since its last run, unless there are none. */
public final class RejectedKeysLog implements Runnable {
    public static final long INTERVAL_MICROS = TimeUnit.MINUTES.toMicros(1);

    private static final int KEYS = 3;
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.rejections.keys");

    private final RejectedKeys keys;

    public RejectedKeysLog(TopKeysTracker tracker) {
        this.keys = new RejectedKeys(tracker);
    }

    /** Reads the counts even if the message is off, so that the first message after a change covers one interval only. */
    @Override
    public void run() {
        List<RejectedKeys.Entry> most = keys.next(KEYS);
        if (!most.isEmpty()) {
            MESSAGES.log(
                    LOG, "WEIR-321", most.stream().map(RejectedKeysLog::text).collect(Collectors.joining(", ")));
        }
    }

    private static String text(RejectedKeys.Entry entry) {
        return entry.key() + " (policy " + entry.policy() + ", at least " + entry.rejections() + ")";
    }
}
