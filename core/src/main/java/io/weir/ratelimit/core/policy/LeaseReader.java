// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A reader of the number of permits that an instance may lease under a policy. */
record LeaseReader(PolicyProperties properties) {
    private static final Set<Algorithm> ALGORITHMS =
            Set.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET);

    /** Reads the permits, 0 if there is no valid lease. */
    long read(Algorithm algorithm, Duration maxWait, List<Limit> limits) {
        String property = properties.name(ConfigKeys.LEASE);
        long lease = properties.value(
                ConfigKeys.LEASE, text -> MESSAGES.problem("WEIR-129", property, text, PolicyLimits.MAX_LEASE));
        return problem(property, lease, algorithm, maxWait, limits)
                .map(problem -> {
                    properties.report(problem);
                    return 0L;
                })
                .orElse(lease);
    }

    private static Optional<ConfigurationProblem> problem(
            String property, long lease, Algorithm algorithm, Duration maxWait, List<Limit> limits) {
        String value = String.valueOf(lease);
        if (lease == 0) {
            return Optional.empty();
        }
        if (!maxWait.isZero()) {
            return Optional.of(MESSAGES.problem("WEIR-128.max-wait", property, value));
        }
        if (!ALGORITHMS.contains(algorithm)) {
            return Optional.of(MESSAGES.problem("WEIR-128.algorithm", property, value, algorithm.configName()));
        }
        if (hasCalendarLimit(limits)) {
            return Optional.of(MESSAGES.problem("WEIR-128.calendar", property, value));
        }
        if (!limits.stream().allMatch(WindowLimit.class::isInstance)) {
            return Optional.of(MESSAGES.problem("WEIR-128.concurrency", property, value));
        }
        long maximum = maximum(limits);
        if (lease > maximum) {
            return Optional.of(
                    maximum == 0
                            ? MESSAGES.problem("WEIR-130.no-lease", property, value)
                            : MESSAGES.problem("WEIR-130", property, value, maximum));
        }
        return Optional.empty();
    }

    static boolean hasCalendarLimit(List<Limit> limits) {
        return limits.stream().anyMatch(CalendarLimit.class::isInstance);
    }

    /**
     * Adds the lease of a policy to the limits of a tier or of a single key, reduced to the greatest lease of these limits. A
     * calendar limit or a concurrency limit cannot be leased.
     */
    static PolicyLimits withLease(PolicyLimits limits, long lease) {
        if (limits.hasConcurrency() || hasCalendarLimit(limits.limits())) {
            return limits;
        }
        return limits.withLease(Math.min(lease, maximum(limits.limits())));
    }

    /** Returns half of the smallest limit: one instance must not hold the greater part of a limit. */
    private static long maximum(List<Limit> limits) {
        // A limit of 0 rejects all calls, whatever the lease is.
        return limits.stream()
                        .mapToLong(Limit::capacity)
                        .filter(capacity -> capacity > 0)
                        .min()
                        .orElse(Long.MAX_VALUE)
                / 2;
    }
}
