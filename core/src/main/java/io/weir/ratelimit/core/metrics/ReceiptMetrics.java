// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.request.EdgeReceipt;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Counts the receipts of requests by their result, and reports those that are ignored, at most once a minute. */
public final class ReceiptMetrics implements Consumer<EdgeReceipt.Result> {
    private final Map<EdgeReceipt.Result, Runnable> counters = new EnumMap<>(EdgeReceipt.Result.class);
    private final MessageCatalog.Sampler ignored = new MessageCatalog.Sampler(TimeUnit.MINUTES.toNanos(1));
    private final LongSupplier nanos;

    /** Creates the series at once, so that an alert rule finds them before the first forged receipt. */
    public ReceiptMetrics(Optional<Meters> meters, LongSupplier nanos) {
        this.nanos = nanos;
        meters.ifPresent(known -> {
            for (EdgeReceipt.Result result : EdgeReceipt.Result.values()) {
                counters.put(result, known.counter(Meters.Metric.RECEIPTS, "result", tag(result)));
            }
        });
    }

    private static String tag(EdgeReceipt.Result result) {
        return result.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void accept(EdgeReceipt.Result result) {
        Runnable counter = counters.get(result);
        if (counter != null) {
            counter.run();
        }
        if (result != EdgeReceipt.Result.ACCEPTED) {
            long count = ignored.countToLog(nanos.getAsLong());
            if (count > 0) {
                MESSAGES.log("WEIR-731", count, tag(result));
            }
        }
    }
}
