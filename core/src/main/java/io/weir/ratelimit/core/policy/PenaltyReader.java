// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** A reader of the rule by which rejections under a policy lead to penalties. */
record PenaltyReader(PolicyProperties properties) {
    private static final int DEFAULT_FACTOR = 2;
    private static final Duration DEFAULT_LONGEST = Duration.ofDays(1);

    /** Reads the rule; empty if the policy has none, or no valid one. */
    Optional<PenaltyRule> read() {
        Optional<Limit> after = properties.optional(ConfigKeys.PENALTY_AFTER);
        Optional<Duration> first = properties.optional(ConfigKeys.PENALTY_FOR);
        int factor = properties.optional(ConfigKeys.PENALTY_FACTOR).orElse(DEFAULT_FACTOR);
        Optional<Duration> longest = properties.optional(ConfigKeys.PENALTY_MAX);
        if (properties.text(ConfigKeys.PENALTY_AFTER).isEmpty()) {
            List.of(ConfigKeys.PENALTY_FOR, ConfigKeys.PENALTY_FACTOR, ConfigKeys.PENALTY_MAX)
                    .forEach(key -> requires(key, ConfigKeys.PENALTY_AFTER, "20/1m"));
            return Optional.empty();
        }
        if (properties.text(ConfigKeys.PENALTY_FOR).isEmpty()) {
            requires(ConfigKeys.PENALTY_AFTER, ConfigKeys.PENALTY_FOR, "15m");
        }
        if (after.isEmpty() || first.isEmpty()) {
            return Optional.empty();
        }
        Duration most = longest.orElse(Collections.max(List.of(DEFAULT_LONGEST, first.get())));
        if (first.get().compareTo(most) > 0) {
            properties.report(MESSAGES.problem(
                    "WEIR-138",
                    properties.name(ConfigKeys.PENALTY_FOR),
                    properties.text(ConfigKeys.PENALTY_FOR).orElse(""),
                    properties.name(ConfigKeys.PENALTY_MAX)));
            return Optional.empty();
        }
        return Optional.of(new PenaltyRule(after.get().permits(), after.get().window(), first.get(), factor, most));
    }

    private void requires(ConfigKey<?> key, ConfigKey<?> other, String example) {
        properties
                .text(key)
                .ifPresent(text -> properties.report(
                        MESSAGES.problem("WEIR-137", properties.name(key), text, properties.name(other), example)));
    }
}
