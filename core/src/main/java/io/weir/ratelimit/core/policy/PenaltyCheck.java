// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** The check for penalties that block all clients at once, or one that waits after each rejection as long as {@code Retry-After} requires. */
public final class PenaltyCheck {
    /** The shortest wait that a response can require. */
    private static final long SECOND = TimeUnit.SECONDS.toMicros(1);

    private PenaltyCheck() {}

    /** Returns the warnings about the penalties of policies. */
    public static List<MessageCatalog.Message> warnings(Map<String, Policy> policies) {
        List<MessageCatalog.Message> warnings = new ArrayList<>();
        for (Policy policy : new TreeMap<>(policies).values()) {
            policy.penalty().filter(any -> policy.canReject()).ifPresent(rule -> {
                reachable(policy)
                        .ifPresent(rejections ->
                                warnings.add(MESSAGES.message("WEIR-025", policy.name(), rejections, after(rule))));
                if (policy.key().isGlobal()) {
                    warnings.add(MESSAGES.message("WEIR-025.global", policy.name(), rule.rejections()));
                }
            });
        }
        return warnings;
    }

    private static String after(PenaltyRule rule) {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, rule.rejections(), rule.window());
        return rule.rejections() + "/" + limit.windowText();
    }

    /**
     * Returns the most rejections of such a client in the window of the penalty, if they are enough for the penalty; empty if the policy
     * cannot block such a client. A rejection by slots does not count.
     */
    public static OptionalLong reachable(Policy policy) {
        Optional<PenaltyRule> rule = policy.penalty().filter(any -> policy.canReject());
        if (rule.isEmpty()) {
            return OptionalLong.empty();
        }
        long windowMicros = TimeUnit.MILLISECONDS.toMicros(rule.get().window().toMillis());
        return policy.allLimits()
                .mapToLong(limits -> rejections(limits, windowMicros))
                .filter(rejections -> rejections >= rule.get().rejections())
                .max();
    }

    private static long rejections(PolicyLimits limits, long windowMicros) {
        long ofLimits = limits.withoutConcurrency().stream()
                .flatMap(others -> others.limits().stream())
                .filter(limit -> limit.permits() > 0)
                .mapToLong(limit -> windowMicros / Math.max(SECOND, gapMicros(limit)) + 2)
                .sum();
        return Math.min(ofLimits, windowMicros / SECOND + 1);
    }

    /** Returns the time in which a caller without permits gets the next one. */
    private static long gapMicros(Limit limit) {
        return limit.windowMicros() / (LimitState.isFixed(limit) ? 1 : limit.permits());
    }
}
