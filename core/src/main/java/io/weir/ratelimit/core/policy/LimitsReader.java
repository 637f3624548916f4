// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** A reader of the limits of a policy and of its tiers. It reports invalid limits. */
record LimitsReader(PolicyProperties properties) {
    /** Parses limits with a burst. The problem names the invalid one of both. */
    Optional<List<Limit>> parse(
            String text, String limitPlace, LimitForm form, Optional<Long> burst, String burstPlace) {
        try {
            return Optional.of(LimitParser.parse(text, form, burst));
        } catch (IllegalArgumentException e) {
            boolean invalidBurst = burst.isPresent() && isValid(text, form);
            properties.report(
                    invalidBurst
                            ? MESSAGES.problem(
                                    "WEIR-116", burstPlace, burst.get().toString(), e.getMessage())
                            : MESSAGES.problem("WEIR-111", limitPlace, text, e.getMessage()));
            return Optional.empty();
        }
    }

    /** Tests whether limits are valid without a burst. */
    private static boolean isValid(String limits, LimitForm form) {
        try {
            return !LimitParser.parse(limits, form, Optional.empty()).isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Adds the max-wait of the policy to limits. */
    Optional<List<Limit>> withMaxWait(List<Limit> limits, Duration maxWait) {
        try {
            return Optional.of(
                    limits.stream().map(limit -> limit.withMaxWait(maxWait)).toList());
        } catch (IllegalArgumentException e) {
            properties.report(MESSAGES.problem(
                    "WEIR-117", properties.name(ConfigKeys.MAX_WAIT), maxWait.toMillis() + "ms", e.getMessage()));
            return Optional.empty();
        }
    }

    /** Creates the limits of a tier under the name of the policy. */
    Optional<PolicyLimits> named(String tier, String limitPlace, List<Limit> limits) {
        return created(limitPlace, () -> new PolicyLimits(properties.policy(), tier, limits));
    }

    /** Creates limits, and reports their invalid combination. */
    Optional<PolicyLimits> created(String limitPlace, Supplier<PolicyLimits> limits) {
        try {
            return Optional.of(limits.get());
        } catch (IllegalArgumentException e) {
            properties.report(MESSAGES.problem("WEIR-109", limitPlace, "", e.getMessage()));
            return Optional.empty();
        }
    }
}
