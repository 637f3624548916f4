// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TierResolver;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Reads the tiers of a policy. */
final class TierReader {
    private static final String TIERS = "tiers.";
    private static final Pattern TIER = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Set<String> ATTRIBUTES = Set.of("limit", "burst");

    private final ConfigReader reader;
    private final Policies.Vocabulary words;
    private final Problems problems;
    private final String policy;
    private final LimitsReader limits;

    TierReader(ConfigReader reader, Policies.Vocabulary words, Problems problems, String policy, LimitsReader limits) {
        this.reader = reader;
        this.words = words;
        this.problems = problems;
        this.policy = policy;
        this.limits = limits;
    }

    /** Whether an attribute of a policy is one of a tier. */
    static boolean isAttribute(String attribute) {
        return attribute.startsWith(TIERS)
                && attribute.lastIndexOf('.') > TIERS.length()
                && ATTRIBUTES.contains(attribute.substring(attribute.lastIndexOf('.') + 1));
    }

    private String property(String attribute) {
        return reader.policyProperty(policy, attribute);
    }

    /** The tiers, {@link Tiers#NONE} if the policy has none. */
    Tiers read(Set<String> attributes, Algorithm algorithm, Duration maxWait, long lease, Optional<KeyExpression> key) {
        Map<String, PolicyLimits> byTier = new LinkedHashMap<>();
        Set<String> names = new TreeSet<>();
        attributes.stream()
                .filter(attribute -> attribute.startsWith(TIERS))
                .map(attribute -> attribute.substring(TIERS.length(), attribute.lastIndexOf('.')))
                .forEach(names::add);
        for (String tier : names) {
            tierLimits(tier, algorithm, maxWait)
                    .ifPresent(each -> byTier.put(ConfigReader.unquoted(tier), LeaseReader.leased(each, lease)));
        }
        String property = property("tier");
        Optional<String> named = reader.text(property);
        if (named.isPresent() == names.isEmpty()) {
            problems.add(
                    "WEIR-119",
                    property,
                    named.orElse(""),
                    named.isPresent()
                            ? "no tier has a limit"
                            : "nothing names the tier of a caller, though tiers have limits",
                    named.isPresent()
                            ? "set " + property("tiers.<tier>.limit") + ", or leave this out"
                            : "set " + property + ", such as claim:plan or the name of a TierResolver bean");
        }
        return named.flatMap(text -> tierResolver(property, text, key))
                .map(resolver -> new Tiers(named.get(), resolver, byTier))
                .orElse(Tiers.NONE);
    }

    private Optional<PolicyLimits> tierLimits(String tier, Algorithm algorithm, Duration maxWait) {
        String limit = property(TIERS + tier + ".limit");
        String burst = property(TIERS + tier + ".burst");
        Optional<String> text = reader.text(limit);
        if (!TIER.matcher(ConfigReader.unquoted(tier)).matches()) {
            problems.add(
                    "WEIR-120", limit, tier, "is no name of a tier", "use 1 to 64 of the characters A-Z a-z 0-9 _ -");
            return Optional.empty();
        }
        if (text.isEmpty()) {
            problems.add("WEIR-110", limit, "", "the tier " + tier + " has no limit", "set it, such as 1000/1m");
            return Optional.empty();
        }
        return limits.parsed(text.get(), limit, algorithm, reader.optional(burst, LimitParser::permits), burst)
                .flatMap(each -> limits.shaped(each, maxWait))
                .flatMap(each -> limits.named(ConfigReader.unquoted(tier), limit, each));
    }

    private Optional<TierResolver> tierResolver(String property, String text, Optional<KeyExpression> key) {
        TierResolver bean = words.tierResolvers().get(text);
        if (bean != null) {
            return Optional.of(bean);
        }
        String remedy = "a tier is named by a TierResolver bean, here one of "
                + new TreeSet<>(words.tierResolvers().keySet()) + ", or by " + KeyTerms.FORMS + ", with | between them";
        return words.expression(problems, text, property, remedy).flatMap(expression -> {
            if (expression.isCompound()) {
                problems.add("WEIR-112", property, text, "a tier is one name, no compound", "use | between terms");
                return Optional.empty();
            }
            if (expression.needsArguments()
                    && !key.filter(KeyExpression::needsArguments).isPresent()) {
                problems.add(
                        "WEIR-112",
                        property,
                        text,
                        "calls are decided before their arguments are known, unless the key uses one",
                        "name the tier by another term or a TierResolver bean");
            }
            if (!expression.isEarly()
                    && reader.text(property("phase")).filter("early"::equals).isPresent()) {
                problems.add(
                        "WEIR-121",
                        property,
                        text,
                        "before the request is matched and its user known, the tier cannot be told",
                        "use a tier of ip, global and header:<name>, or phase=normal");
            }
            return Optional.of(expression::value);
        });
    }
}
