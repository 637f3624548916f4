// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** A reader of one policy from its properties and its annotation. */
final class PolicyReader {
    private final PolicyProperties properties;
    private final Resolvers resolvers;
    private final Optional<MethodLimits.InlinePolicy> inlinePolicy;
    private final String place;
    private final LimitsReader limits;

    /** Creates a reader of a policy that a place mentions first, and that an annotation can define. */
    PolicyReader(
            PolicyProperties properties,
            Resolvers resolvers,
            String place,
            Optional<MethodLimits.InlinePolicy> inlinePolicy) {
        this.properties = properties;
        this.resolvers = resolvers;
        this.inlinePolicy = inlinePolicy;
        this.place = inlinePolicy.map(MethodLimits.InlinePolicy::place).orElse(place);
        this.limits = new LimitsReader(properties);
    }

    /**
     * Reads the policy; empty if it has no valid limits or no valid key. Of the attributes that are set, those of tiers and of path costs
     * are found only here.
     */
    Optional<Policy> read(Set<String> attributes) {
        LimitForm form = form();
        Duration maxWait = properties.value(ConfigKeys.MAX_WAIT);
        Optional<List<Limit>> withoutWait = limits(form, attributes);
        Optional<KeyExpression> key = key();
        long lease = new LeaseReader(properties).read(form.algorithm(), maxWait, withoutWait.orElse(List.of()));
        Optional<PolicyLimits> policyLimits = withoutWait
                .flatMap(each -> limits.withMaxWait(each, maxWait))
                .flatMap(each -> limits.named(PolicyLimits.NO_TIER, limitPlace(), each))
                .map(each -> each.withLease(lease));
        Tiers tiers = new TierReader(properties, resolvers, limits)
                .read(attributes, form, hasOtherLimits(form, withoutWait), maxWait, lease, key);
        Optional<PathRule> pathRule = new PathRuleReader(properties).read(attributes, key);
        long cost = properties.value(ConfigKeys.COST);
        FailureMode onFailure = properties.value(ConfigKeys.ON_FAILURE);
        int maxWaiting = properties.value(ConfigKeys.MAX_WAITING);
        Policy.Mode mode = constant(ConfigKeys.MODE, Policy.Mode.class);
        int enforcePercent = properties.value(ConfigKeys.ENFORCE_PERCENT);
        Policy.Count count = constant(ConfigKeys.COUNT, Policy.Count.class);
        Policy.Disclosure disclosure = constant(ConfigKeys.DISCLOSURE, Policy.Disclosure.class);
        Optional<String> help = properties.optional(ConfigKeys.HELP);
        List<Integer> notifyAt = properties.value(ConfigKeys.NOTIFY_AT);
        Optional<PenaltyRule> penalty = new PenaltyReader(properties).read();
        return policyLimits.isEmpty() || key.isEmpty()
                ? Optional.empty()
                : Optional.of(Policy.builder(policyLimits.get(), key.get())
                        .form(form)
                        .tiers(tiers)
                        .cost(cost)
                        .onFailure(onFailure)
                        .maxWaiting(maxWaiting)
                        .mode(mode)
                        .count(count)
                        .disclosure(disclosure)
                        .help(help)
                        .pathRule(pathRule)
                        .notifyAt(notifyAt)
                        .penalty(penalty)
                        .enforcePercent(enforcePercent)
                        .build());
    }

    private LimitForm form() {
        Optional<Integer> concurrency = properties.optional(ConfigKeys.CONCURRENCY);
        return new LimitForm(
                        algorithm(),
                        properties.value(ConfigKeys.ZONE),
                        properties.value(ConfigKeys.ANCHOR),
                        OptionalInt.empty(),
                        properties.value(ConfigKeys.CONCURRENCY_TIMEOUT))
                .withConcurrency(concurrency);
    }

    private Algorithm algorithm() {
        Algorithm configured = properties.value(ConfigKeys.ALGORITHM);
        return properties.text(ConfigKeys.ALGORITHM).isPresent()
                ? configured
                : inlinePolicy.map(MethodLimits.InlinePolicy::algorithm).orElse(configured);
    }

    /** Reads a property whose values are the constants of an enumeration in lower case. */
    private <E extends Enum<E>> E constant(ConfigKey<String> key, Class<E> type) {
        return Enum.valueOf(type, properties.value(key).toUpperCase(Locale.ROOT));
    }

    private Optional<List<Limit>> limits(LimitForm form, Set<String> attributes) {
        String policy = properties.policy();
        String property = properties.name(ConfigKeys.LIMIT);
        Optional<String> text = properties
                .text(ConfigKeys.LIMIT)
                .or(() -> inlinePolicy.map(MethodLimits.InlinePolicy::limit).filter(limit -> !limit.isEmpty()));
        if (text.isEmpty() && form.concurrency().isPresent()) {
            return onlyConcurrency(form, hasTierLimits(attributes));
        }
        boolean hasOtherProblem = properties.text(ConfigKeys.CONCURRENCY).isPresent();
        if (text.isEmpty() && !hasOtherProblem && properties.isReadable(property)) {
            properties.report(
                    inlinePolicy.isPresent()
                            ? MESSAGES.problem("WEIR-110.annotation", place, "", policy, property)
                            : MESSAGES.problem("WEIR-110", place, "", policy, property));
        }
        Optional<Long> burst = properties.optional(ConfigKeys.BURST);
        return text.flatMap(each -> limits.parse(each, limitPlace(), form, burst, properties.name(ConfigKeys.BURST)))
                .map(form::withSlots);
    }

    private static boolean hasOtherLimits(LimitForm form, Optional<List<Limit>> limits) {
        return limits.isEmpty()
                || limits.get().size() > form.withSlots(List.of()).size();
    }

    private static boolean hasTierLimits(Set<String> attributes) {
        return attributes.stream()
                .anyMatch(attribute -> ConfigKeys.TIER_LIMIT.variable(attribute).isPresent());
    }

    /**
     * Returns the concurrency limit of a policy without other limits. Reports attributes that only other limits have. Those of a tier have
     * the algorithm of the policy and its thresholds, but a burst of their own.
     */
    private Optional<List<Limit>> onlyConcurrency(LimitForm form, boolean hasTierLimits) {
        List<ConfigKey<?>> withoutEffect = hasTierLimits
                ? List.of(ConfigKeys.BURST)
                : List.of(ConfigKeys.BURST, ConfigKeys.ALGORITHM, ConfigKeys.NOTIFY_AT);
        for (ConfigKey<?> key : withoutEffect) {
            properties
                    .text(key)
                    .filter(value -> !value.equals(key.defaultText()))
                    .ifPresent(value -> properties.report(MESSAGES.problem(
                            "WEIR-133",
                            properties.name(key),
                            value,
                            key.attribute(),
                            properties.name(ConfigKeys.LIMIT))));
        }
        return Optional.of(form.withSlots(List.of()));
    }

    /** Returns the property or the annotation with the limits of a policy that has some. */
    private String limitPlace() {
        return properties.text(ConfigKeys.LIMIT).isPresent()
                ? properties.name(ConfigKeys.LIMIT)
                : place + " @RateLimit(limit)";
    }

    private Optional<KeyExpression> key() {
        Optional<String> configured = properties.text(ConfigKeys.KEY);
        String text = configured
                .or(() -> inlinePolicy.map(MethodLimits.InlinePolicy::key).filter(key -> !key.isEmpty()))
                .orElse(ConfigKeys.KEY.defaultText());
        String keyPlace = configured.isPresent() ? properties.name(ConfigKeys.KEY) : place + " @RateLimit(key)";
        return resolvers.expression(
                properties,
                text,
                keyPlace,
                reason -> MESSAGES.problem("WEIR-112.key", keyPlace, text, reason, KeyTerms.FORMS));
    }
}
