// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * The log of decisions that failed because a stored key contains foreign data. It has at most one line per key and minute. Beyond a
 * maximum number of keys, the other keys share one line per minute.
 */
final class ForeignStateLog implements DecisionListener {
    private static final String REASON = Reason.FOREIGN_STATE.tag();
    private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int MAX_KEYS = 100;

    private final KeyMasker keys;
    private final LongSupplier nanoTime;
    private final Map<String, MessageCatalog.Sampler> byKeys = new ConcurrentHashMap<>();
    private final MessageCatalog.Sampler others = new MessageCatalog.Sampler(INTERVAL_NANOS);

    ForeignStateLog(KeyMasker keys, LongSupplier nanoTime) {
        this.keys = keys;
        this.nanoTime = nanoTime;
    }

    @Override
    public boolean needs(Decision decision) {
        return decision instanceof Decision.Degraded;
    }

    @Override
    public void onDecision(DecisionEvent event) {
        if (event.decision() instanceof Decision.Degraded degraded
                && degraded.reason().equals(REASON)) {
            String text = text(event);
            long count = sampler(text).countToLog(nanoTime.getAsLong());
            if (count > 0) {
                MESSAGES.log("WEIR-320", text, count);
            }
        }
    }

    /** Returns the keys of the decision with their policies. The backend does not report which of them has foreign data. */
    private String text(DecisionEvent event) {
        return event.charges().stream()
                .filter(charge -> !charge.shadow())
                .map(this::text)
                .collect(Collectors.joining(", "));
    }

    private String text(Charge charge) {
        return keys.of(charge.storedKey()) + " of policy " + charge.policy().policy();
    }

    private MessageCatalog.Sampler sampler(String text) {
        MessageCatalog.Sampler sampler = byKeys.get(text);
        if (sampler != null) {
            return sampler;
        }
        return byKeys.size() < MAX_KEYS
                ? byKeys.computeIfAbsent(text, ignored -> new MessageCatalog.Sampler(INTERVAL_NANOS))
                : others;
    }
}
