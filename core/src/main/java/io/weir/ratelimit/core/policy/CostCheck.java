// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The check for costs that no limits of their policy can ever hold, so that each such call would be rejected. A policy in shadow mode
 * rejects nothing and is not checked.
 */
public final class CostCheck {
    private final ConfigProperties config;
    private final Map<String, List<MethodLimits>> methods = new HashMap<>();
    private final Map<String, Long> costs;

    private record Cost(String place, long permits) {}

    public CostCheck(ConfigProperties config, Collection<MethodLimits> methods, Map<String, Long> costs) {
        this.config = config;
        for (MethodLimits method : methods) {
            method.policies()
                    .forEach(policy -> this.methods
                            .computeIfAbsent(policy, first -> new ArrayList<>())
                            .add(method));
        }
        this.costs = costs;
    }

    /** Returns a warning for each policy or tier that cannot hold a cost of its calls, also one that other limits can hold. */
    public static List<MessageCatalog.Message> warnings(
            Map<String, Policy> policies, Collection<MethodLimits> methods, Map<String, Long> costs) {
        List<MessageCatalog.Message> warnings = new ArrayList<>();
        for (Policy policy : new TreeMap<>(policies).values()) {
            OptionalLong cost = costs(policy, methods, costs).max();
            for (PolicyLimits limits : limits(policy)) {
                OptionalLong capacity = capacity(limits);
                if (capacity.isPresent() && cost.isPresent() && cost.getAsLong() > capacity.getAsLong()) {
                    warnings.add(MESSAGES.message("WEIR-009", limits, capacity.getAsLong(), cost.getAsLong()));
                }
            }
        }
        return warnings;
    }

    private static List<PolicyLimits> limits(Policy policy) {
        return Stream.concat(
                        Stream.of(policy.limits()), new TreeMap<>(policy.tiers().limits()).values().stream())
                .toList();
    }

    /** Returns the configured costs of calls under a policy. */
    private static LongStream costs(Policy policy, Collection<MethodLimits> methods, Map<String, Long> costs) {
        LongStream ofMethods = methods.stream()
                .filter(method -> method.isUnder(policy.name()))
                .mapToLong(method -> costs.getOrDefault(method.endpoint(), method.costUnder(policy)));
        LongStream ofPaths = policy.pathRule().stream()
                .flatMap(rule -> Stream.concat(
                        rule.costs().values().stream(),
                        rule.paths().isEmpty() && !rule.byDefault() ? Stream.empty() : Stream.of(policy.cost())))
                .mapToLong(Long::longValue);
        return LongStream.concat(ofMethods, ofPaths);
    }

    /** Checks a policy, and collects the costs that it can never hold as problems. */
    public void check(Policy policy, Problems problems) {
        if (policy.canReject()) {
            largestCapacity(policy).ifPresent(capacity -> check(policy, capacity, problems));
        }
    }

    private void check(Policy policy, long capacity, Problems problems) {
        costs(policy, new ConfigReader(config, problems).policy(policy.name()))
                .filter(cost -> cost.permits() > capacity)
                .distinct()
                .forEach(cost -> problems.add(MESSAGES.problem(
                        "WEIR-140", cost.place(), Long.toString(cost.permits()), policy.name(), capacity)));
    }

    /** Returns the most permits that a caller of any tier can spend at once, empty if the policy blocks all callers. */
    private static OptionalLong largestCapacity(Policy policy) {
        return policy.allLimits()
                .map(CostCheck::capacity)
                .flatMapToLong(OptionalLong::stream)
                .max();
    }

    /**
     * Returns the most permits that a caller can spend at once under a policy or a tier; empty if no limit bounds the cost. A limit of zero
     * blocks on purpose, and a concurrency limit holds any cost.
     */
    public static OptionalLong capacity(PolicyLimits limits) {
        return limits.withoutConcurrency().stream()
                .flatMap(others -> others.limits().stream())
                .mapToLong(Limit::capacity)
                .filter(permits -> permits > 0)
                .min();
    }

    /** Returns the costs that apply. A cost of a path precedes those of methods, so they may never apply if a path has a cost. */
    private Stream<Cost> costs(Policy policy, PolicyProperties properties) {
        Cost own = new Cost(properties.name(ConfigKeys.COST), policy.cost());
        Optional<PathRule> rule = policy.pathRule();
        Stream<Cost> ofPaths = rule.stream()
                .flatMap(each -> each.costs().entrySet().stream())
                .map(cost -> new Cost(
                        properties.name(
                                ConfigKeys.PATH_COST.attribute(cost.getKey().toString())),
                        cost.getValue()))
                .sorted(Comparator.comparing(Cost::place));
        Stream<Cost> ofMethods = rule.filter(each -> !each.costs().isEmpty()).isPresent()
                ? Stream.empty()
                : methods.getOrDefault(policy.name(), List.of()).stream()
                        .map(method -> cost(method).orElse(own));
        Stream<Cost> ofOtherPaths = rule.filter(PathRule::hasPathsWithoutCost).map(each -> own).stream();
        return Stream.of(ofMethods, ofPaths, ofOtherPaths).flatMap(each -> each);
    }

    private Optional<Cost> cost(MethodLimits method) {
        Long configured = costs.get(method.endpoint());
        if (configured != null) {
            String place = MethodCosts.property(config, method.name())
                    .orElse(MethodCosts.PREFIX + '"' + method.endpoint() + '"');
            return Optional.of(new Cost(place, configured));
        }
        return method.cost() > 0
                ? Optional.of(new Cost(method.endpoint() + " @RateLimit(cost)", method.cost()))
                : Optional.empty();
    }
}
