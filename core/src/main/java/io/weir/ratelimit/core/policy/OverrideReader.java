// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A reader of the limits that an operator sets for one key. Its problems are those of the same attributes of the policy. */
public final class OverrideReader {
    private OverrideReader() {}

    /**
     * Reads the limits of a key from the values of {@code limit}, {@code burst} and {@code concurrency}; empty if there is a problem. The
     * limits of the policy itself apply if {@code limit} is absent.
     */
    public static Optional<PolicyLimits> read(Policy policy, Map<String, String> values, Problems problems) {
        Problems found = new Problems();
        PolicyProperties properties = properties(policy, values, found);
        LimitsReader reader = new LimitsReader(properties);
        LimitForm form = policy.form().withConcurrency(properties.optional(ConfigKeys.CONCURRENCY));
        Optional<Long> burst = properties.optional(ConfigKeys.BURST);
        Optional<List<Limit>> limits = Optional.empty();
        if (found.found().isEmpty()) {
            Optional<String> text = properties.text(ConfigKeys.LIMIT);
            if (text.isPresent()) {
                limits = reader.parse(
                        text.get(), properties.name(ConfigKeys.LIMIT), form, burst, properties.name(ConfigKeys.BURST));
            } else if (burst.isPresent()) {
                found.add(MESSAGES.problem(
                        "WEIR-449.burst",
                        properties.name(ConfigKeys.BURST),
                        burst.get().toString(),
                        properties.name(ConfigKeys.LIMIT)));
            } else {
                limits = Optional.of(ofPolicy(policy));
            }
        }
        Optional<PolicyLimits> read = limits.flatMap(each ->
                reader.created(properties.name(ConfigKeys.LIMIT), () -> OverrideAnswer.limits(policy, form, each)));
        problems.addAll(found.found());
        return read;
    }

    private static PolicyProperties properties(Policy policy, Map<String, String> values, Problems problems) {
        PolicyProperties names = new ConfigReader(ConfigProperties.of(Map.of()), new Problems()).policy(policy.name());
        Map<String, String> properties = new HashMap<>();
        values.forEach((attribute, value) -> properties.put(names.name(attribute), value));
        return new ConfigReader(ConfigProperties.of(properties), problems).policy(policy.name());
    }

    private static List<Limit> ofPolicy(Policy policy) {
        return policy.limits().withoutConcurrency().map(PolicyLimits::limits).orElse(List.of());
    }
}
