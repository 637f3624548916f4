// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.core.message.MessageCatalog;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The log of penalties. At DEBUG it has one line for each penalty. At INFO it has at most one line per policy and minute, with the number
 * of penalties since the previous line: a client that selects its key can cause many.
 */
public final class PenaltyLog implements Consumer<PenaltyImposed> {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.rejections");
    private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    private final Map<String, MessageCatalog.Sampler> byPolicy = new ConcurrentHashMap<>();

    public PenaltyLog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Returns the listeners of penalties: the log, and the metric if metrics are recorded. They do not block the thread. */
    public static List<Consumer<PenaltyImposed>> withMetrics(Optional<Meters> meters) {
        return Stream.of(Optional.of(new PenaltyLog(System::nanoTime)), meters.map(PenaltyMetrics::new))
                .<Consumer<PenaltyImposed>>flatMap(Optional::stream)
                .toList();
    }

    @Override
    public void accept(PenaltyImposed penalty) {
        String seconds = String.valueOf(penalty.duration().toSeconds());
        LOG.log(
                Level.DEBUG,
                "blocked: policy={0} endpoint={1} key={2} seconds={3} penalty={4}",
                penalty.policy(),
                MessageCatalog.inLine(penalty.endpoint()),
                penalty.key(),
                seconds,
                String.valueOf(penalty.number()));
        long count = byPolicy.computeIfAbsent(penalty.policy(), policy -> new MessageCatalog.Sampler(INTERVAL_NANOS))
                .countToLog(nanoTime.getAsLong());
        if (count > 0) {
            MESSAGES.log(LOG, "WEIR-430", penalty.policy(), count, penalty.key(), seconds, penalty.number());
        }
    }
}
