// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.CostCheck;
import io.weir.ratelimit.core.policy.OverrideReader;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.ValueLayer.KeyValues;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.ConcurrencyLimit;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The checks of a policy against the rest of the application: its methods, its costs, its backend and the plug-ins. */
record PolicyChecks(
        Map<String, List<AnnotatedMethods.Limited>> methods,
        RateLimitBackend backend,
        CostCheck costs,
        PolicyCheck others) {

    /** Returns the problems of a policy, except those of costs. */
    List<ConfigurationProblem> problems(Policy policy, ConfigProperties config) {
        Problems problems = new Problems();
        methods.getOrDefault(policy.name(), List.of()).forEach(method -> method.check(policy, problems));
        checkBackend(policy, config, problems);
        others.check(policy, config, problems);
        return problems.found();
    }

    /** Returns the problems of costs that a policy can never hold. */
    List<ConfigurationProblem> ofCosts(Policy policy) {
        Problems problems = new Problems();
        costs.check(policy, problems);
        return problems.found();
    }

    /** Checks the limits of single keys like policies with these limits. */
    Map<Long, List<ConfigurationProblem>> ofOverrides(
            Collection<KeyValues> overrides, Map<String, Policy> policies, ConfigProperties config) {
        Map<Long, List<ConfigurationProblem>> problems = new TreeMap<>();
        for (KeyValues override : overrides) {
            Policy policy = policies.get(override.policy());
            List<ConfigurationProblem> found = policy == null ? List.of() : ofOverride(policy, override, config);
            if (!found.isEmpty()) {
                problems.put(override.number(), found);
            }
        }
        return problems;
    }

    private List<ConfigurationProblem> ofOverride(Policy policy, KeyValues override, ConfigProperties config) {
        Problems problems = new Problems();
        OverrideReader.read(policy, override.values(), problems).ifPresent(limits -> {
            Policy ofKey = policy.withLimits(limits);
            problems.addAll(problems(ofKey, override.layer().over(config, Set.of(policy.name()))));
            problems.addAll(ofCosts(ofKey));
        });
        return problems.found();
    }

    /** Checks that the backend can evaluate the limits. */
    private void checkBackend(Policy policy, ConfigProperties config, Problems problems) {
        policy.allLimits()
                .flatMap(limits -> limits.limits().stream())
                .filter(limit -> !supports(limit))
                .findFirst()
                .ifPresent(limit -> problems.add(unsupported(policy, limit, new ConfigReader(config, problems))));
        if (policy.penalty().isPresent() && backend.capability(BlocksKeys.class).isEmpty()) {
            PolicyProperties properties = new ConfigReader(config, problems).policy(policy.name());
            problems.add(MESSAGES.problem(
                    "WEIR-134.penalty",
                    properties.name(ConfigKeys.PENALTY_AFTER),
                    properties.text(ConfigKeys.PENALTY_AFTER).orElse(""),
                    backend.name()));
        }
    }

    /** A backend that accepts concurrency limits, but cannot release a slot, would lose each slot until its timeout. */
    private boolean supports(Limit limit) {
        return backend.supports(limit)
                && (!(limit instanceof ConcurrencyLimit)
                        || backend.capability(HoldsSlots.class).isPresent());
    }

    private ConfigurationProblem unsupported(Policy policy, Limit limit, ConfigReader reader) {
        return limit instanceof ConcurrencyLimit
                ? MESSAGES.problem(
                        "WEIR-134",
                        reader.policy(policy.name()).name(ConfigKeys.CONCURRENCY),
                        String.valueOf(limit.permits()),
                        backend.name())
                : MESSAGES.problem("WEIR-610", "policy " + policy.name(), limit.toString(), backend.name());
    }
}
