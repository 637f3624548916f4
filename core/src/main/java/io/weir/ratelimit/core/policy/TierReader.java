// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.PolicyProperties;
import io.weir.ratelimit.core.config.QuotedName;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A reader of the tiers of a policy. */
record TierReader(PolicyProperties properties, Resolvers resolvers, LimitsReader limits) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    /**
     * Reads the tiers, {@link Tiers#NONE} if the policy has none. If the policy has other limits than a concurrency limit, a tier has them
     * as well.
     */
    Tiers read(
            Set<String> attributes,
            LimitForm form,
            boolean hasOtherLimits,
            Duration maxWait,
            long lease,
            Optional<KeyExpression> key) {
        Set<String> names = names(attributes);
        Map<String, PolicyLimits> byTier = new LinkedHashMap<>();
        for (String name : names) {
            tierLimits(name, form, maxWait, hasOtherLimits)
                    .ifPresent(each -> byTier.put(QuotedName.unquoted(name), withLease(name, each, lease)));
        }
        Optional<String> selector = properties.text(ConfigKeys.TIER);
        if (selector.isPresent() == names.isEmpty()) {
            properties.report(incomplete(selector));
        }
        return selector.flatMap(text -> selector(text, key))
                .map(found -> new Tiers(selector.get(), found, byTier))
                .orElse(Tiers.NONE);
    }

    private static Set<String> names(Set<String> attributes) {
        return attributes.stream()
                .flatMap(attribute -> ConfigKeys.TIER_LIMIT
                        .variable(attribute)
                        .or(() -> ConfigKeys.TIER_BURST.variable(attribute))
                        .or(() -> ConfigKeys.TIER_CONCURRENCY.variable(attribute))
                        .stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private ConfigurationProblem incomplete(Optional<String> selector) {
        String property = properties.name(ConfigKeys.TIER);
        return selector.map(text ->
                        MESSAGES.problem("WEIR-119.no-limit", property, text, properties.name(ConfigKeys.TIER_LIMIT)))
                .orElseGet(() -> MESSAGES.problem("WEIR-119.no-selector", property, "", property));
    }

    private Optional<PolicyLimits> tierLimits(String name, LimitForm form, Duration maxWait, boolean hasOtherLimits) {
        String limit = properties.name(ConfigKeys.TIER_LIMIT.attribute(name));
        String burst = properties.name(ConfigKeys.TIER_BURST.attribute(name));
        String tier = QuotedName.unquoted(name);
        String concurrency = properties.name(ConfigKeys.TIER_CONCURRENCY.attribute(name));
        Optional<Integer> calls = properties.optional(concurrency, ConfigKeys.TIER_CONCURRENCY);
        LimitForm tierForm = form.withConcurrency(calls);
        Optional<String> text = properties.optional(limit, ConfigKeys.TIER_LIMIT);
        if (!NAME.matcher(tier).matches()) {
            properties.report(MESSAGES.problem("WEIR-120", limit, name));
            return Optional.empty();
        }
        if (text.isEmpty() && calls.isPresent() && !hasOtherLimits) {
            return limits.withMaxWait(tierForm.withSlots(List.of()), maxWait)
                    .flatMap(each -> limits.named(tier, concurrency, each));
        }
        if (text.isEmpty()) {
            if (properties.isReadable(limit)) {
                properties.report(MESSAGES.problem("WEIR-110.tier", limit, "", name));
            }
            return Optional.empty();
        }
        return limits.parse(text.get(), limit, form, properties.optional(burst, ConfigKeys.TIER_BURST), burst)
                .map(tierForm::withSlots)
                .flatMap(each -> limits.withMaxWait(each, maxWait))
                .flatMap(each -> limits.named(tier, limit, each));
    }

    /** Adds the lease of the policy to the limits of a tier. It reports limits that cannot be leased. */
    private PolicyLimits withLease(String name, PolicyLimits limits, long lease) {
        if (lease > 0 && limits.hasConcurrency()) {
            properties.report(MESSAGES.problem(
                    "WEIR-128.concurrency",
                    properties.name(ConfigKeys.TIER_CONCURRENCY.attribute(name)),
                    limits.limits().toString()));
        } else if (lease > 0 && LeaseReader.hasCalendarLimit(limits.limits())) {
            properties.report(MESSAGES.problem(
                    "WEIR-128.calendar",
                    properties.name(ConfigKeys.TIER_LIMIT.attribute(name)),
                    limits.limits().toString()));
        }
        return LeaseReader.withLease(limits, lease);
    }

    private Optional<TierSelector> selector(String text, Optional<KeyExpression> key) {
        String property = properties.name(ConfigKeys.TIER);
        TierSelector bean = resolvers.tiers().get(text);
        if (bean != null) {
            checkPhase(false, property, text);
            return Optional.of(bean);
        }
        Set<String> beans = new TreeSet<>(resolvers.tiers().keySet());
        Function<String, ConfigurationProblem> invalid =
                reason -> MESSAGES.problem("WEIR-112.tier", property, text, reason, beans, KeyTerms.FORMS);
        return resolvers
                .expression(properties, text, property, invalid)
                .flatMap(expression -> selector(expression, property, text, key));
    }

    private Optional<TierSelector> selector(
            KeyExpression expression, String property, String text, Optional<KeyExpression> key) {
        if (expression.isCompound()) {
            properties.report(MESSAGES.problem("WEIR-112.compound-tier", property, text));
            return Optional.empty();
        }
        if (expression.needsArguments()
                && !key.filter(KeyExpression::needsArguments).isPresent()) {
            properties.report(MESSAGES.problem("WEIR-112.argument-tier", property, text));
        }
        checkPhase(expression.isEarly(), property, text);
        return Optional.of(new OfExpression(expression));
    }

    private void checkPhase(boolean isKnownEarly, String property, String text) {
        boolean early =
                properties.text(ConfigKeys.PHASE).filter("early"::equals).isPresent();
        if (early && !isKnownEarly) {
            properties.report(MESSAGES.problem("WEIR-121.early-tier", property, text));
        }
    }

    /** The tier of a caller is the value of an expression. */
    private record OfExpression(KeyExpression expression) implements TierSelector {
        @Override
        public Optional<String> tier(CallContext call) {
            return expression.value(call);
        }

        @Override
        public boolean callsResolver() {
            return expression.callsResolver();
        }
    }
}
