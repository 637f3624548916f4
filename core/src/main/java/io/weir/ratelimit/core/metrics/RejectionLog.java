// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.core.limit.PeriodEnd;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The log of rejections. At DEBUG it has one line for each rejection, including those of policies in shadow mode. At INFO it has at most
 * one line per policy and minute, with the number of rejections since the previous line.
 */
final class RejectionLog implements DecisionListener {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.rejections");
    private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final KeyMasker keys;
    private final LongSupplier nanoTime;
    private final Map<String, MessageCatalog.Sampler> byPolicy = new ConcurrentHashMap<>();

    RejectionLog(KeyMasker keys, LongSupplier nanoTime) {
        this.keys = keys;
        this.nanoTime = nanoTime;
    }

    @Override
    public boolean needs(Decision decision) {
        return decision instanceof Decision.Rejected || ChargedResults.hasShadowQuotas(decision);
    }

    @Override
    public void onDecision(DecisionEvent event) {
        if (ChargedResults.hasShadowQuotas(event.decision()) && LOG.isLoggable(Level.DEBUG)) {
            logShadowRejections(event);
        }
        if (!(event.decision() instanceof Decision.Rejected rejected) || !LOG.isLoggable(Level.INFO)) {
            return;
        }
        // Most rejections of a flood are not logged, so the texts are created only for those that are.
        boolean logsEach = LOG.isLoggable(Level.DEBUG);
        String policy = rejected.decisiveQuota().policy();
        long count = sampler(policy).countToLog(nanoTime.getAsLong());
        if (logsEach || count > 0) {
            RateLimitRejected rejection = RejectionNotifier.rejection(event, rejected, keys);
            String retryAfter = text(rejected);
            if (logsEach) {
                logLine(policy, rejection.endpoint(), rejection.key(), rejection.cost(), retryAfter, "enforce");
            }
            if (count > 0) {
                MESSAGES.log(
                        LOG,
                        "WEIR-306",
                        policy,
                        count,
                        rejection.endpoint(),
                        rejection.key(),
                        rejection.cost(),
                        retryAfter);
            }
        }
    }

    /** Logs the rejections of policies in shadow mode. */
    private void logShadowRejections(DecisionEvent event) {
        for (int i = 0; i < event.charges().size(); i++) {
            Charge charge = event.charges().get(i);
            List<Quota> quotas = charge.shadow() ? event.quotasOf(i) : List.of();
            if (quotas.stream().anyMatch(Quota::rejected)) {
                ChargeResult ifEnforced = new ChargeResult(charge.policy().policy(), false, quotas);
                String retryAfter = text(new Decision.Rejected(List.of(ifEnforced)));
                String key = keys.of(charge.storedKey());
                logLine(charge.policy().policy(), event.endpoint(), key, charge.cost(), retryAfter, "shadow");
            }
        }
    }

    private static void logLine(String policy, String endpoint, String key, long cost, String retryAfter, String mode) {
        LOG.log(
                Level.DEBUG,
                "rejected: policy={0} endpoint={1} key={2} cost={3} retry-after={4} mode={5}",
                policy,
                MessageCatalog.inLine(endpoint),
                key,
                String.valueOf(cost),
                retryAfter,
                mode);
    }

    private MessageCatalog.Sampler sampler(String policy) {
        MessageCatalog.Sampler sampler = byPolicy.get(policy);
        return sampler != null
                ? sampler
                : byPolicy.computeIfAbsent(policy, ignored -> new MessageCatalog.Sampler(INTERVAL_NANOS));
    }

    /** Formats the wait like the header field: in seconds, rounded up; and the end of the period of a calendar limit. */
    private static String text(Decision.Rejected rejected) {
        String end = rejected.decisiveQuota()
                .periodEnd()
                .map(date -> " (resets on " + PeriodEnd.text(date) + ")")
                .orElse("");
        return rejected.retryAfter()
                .map(wait -> wait.plusNanos(999_999_999).toSeconds() + "s" + end)
                .orElse("never");
    }
}
