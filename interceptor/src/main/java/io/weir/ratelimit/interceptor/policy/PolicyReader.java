// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Makes one policy out of its properties and its annotation. */
final class PolicyReader {
    static final Set<String> ATTRIBUTES = Set.of(
            "limit",
            "algorithm",
            "burst",
            "key",
            "cost",
            "on-failure",
            "max-wait",
            "max-waiting",
            "lease",
            "tier",
            "mode",
            "count",
            "disclosure",
            "help",
            "paths",
            "methods",
            "phase");

    static final Algorithm DEFAULT_ALGORITHM = Algorithm.SLIDING_WINDOW;
    private static final int LONGEST_HELP = 2_000;

    private final ConfigReader reader;
    private final Policies.Vocabulary words;
    private final Problems problems;
    private final String name;
    private final String place;
    private final Optional<InPlace> inPlace;
    private final LimitsReader limits;

    /**
     * A reader of a policy.
     *
     * @param place what mentions the policy
     * @param inPlace what an annotation says about it
     */
    PolicyReader(
            ConfigReader reader,
            Policies.Vocabulary words,
            Problems problems,
            String name,
            String place,
            Optional<InPlace> inPlace) {
        this.reader = reader;
        this.words = words;
        this.problems = problems;
        this.name = name;
        this.place = place;
        this.inPlace = inPlace;
        this.limits = new LimitsReader(reader, problems, name);
    }

    /**
     * Reads the policy.
     *
     * @param attributes the attributes that properties name; those below {@code tiers.} and {@code costs.} are found nowhere else
     * @return the policy, empty if it has no limits or no key, or those are wrong
     */
    Optional<Policy> read(Set<String> attributes) {
        Algorithm algorithm = reader.oneOf(property("algorithm"), Algorithm.values(), Algorithm::configName)
                .or(() -> inPlace.map(InPlace::algorithm))
                .orElse(DEFAULT_ALGORITHM);
        Optional<List<Limit>> unshaped = limits(algorithm);
        Duration maxWait = reader.value(property("max-wait"), Duration.ZERO, LimitsReader::maxWait);
        Optional<KeyExpression> key = key();
        int maxWaiting = reader.number(property("max-waiting"), Policy.MAX_WAITING, 1, 10_000);
        long lease = new LeaseReader(reader, problems, name).read(algorithm, maxWait, unshaped.orElse(List.of()));
        Optional<PolicyLimits> own = unshaped.flatMap(each -> limits.shaped(each, maxWait))
                .flatMap(each -> limits.named(PolicyLimits.NO_TIER, limitPlace(), each))
                .map(each -> each.withLease(lease));
        long cost = reader.value(property("cost"), 1L, PolicyReader::cost);
        FailureMode onFailure = reader.oneOf(property("on-failure"), FailureMode.values(), FailureMode::configName)
                .orElse(FailureMode.OPEN);
        Tiers tiers =
                new TierReader(reader, words, problems, name, limits).read(attributes, algorithm, maxWait, lease, key);
        Policy.Mode mode = oneOf("mode", Policy.Mode.values(), Policy.Mode.ENFORCE);
        Policy.Count count = oneOf("count", Policy.Count.values(), Policy.Count.ALWAYS);
        Policy.Disclosure disclosure = oneOf("disclosure", Policy.Disclosure.values(), Policy.Disclosure.FULL);
        Optional<String> help = reader.optional(property("help"), PolicyReader::help);
        Optional<PathRule> rule = new PathRuleReader(reader, problems, name).read(attributes, key);
        return own.isEmpty() || key.isEmpty()
                ? Optional.empty()
                : Optional.of(new Policy(
                        own.get(), tiers, key.get(), cost, onFailure, maxWaiting, mode, count, disclosure, help, rule));
    }

    private String property(String attribute) {
        return reader.policyProperty(name, attribute);
    }

    private <E extends Enum<E>> E oneOf(String attribute, E[] choices, E defaultValue) {
        return reader.oneOf(property(attribute), choices, PolicyReader::configName)
                .orElse(defaultValue);
    }

    private static String configName(Enum<?> choice) {
        return choice.name().toLowerCase(Locale.ROOT);
    }

    private Optional<List<Limit>> limits(Algorithm algorithm) {
        Optional<String> text = reader.text(property("limit"))
                .or(() -> inPlace.map(InPlace::limit).filter(limit -> !limit.isEmpty()));
        if (text.isEmpty()) {
            problems.add(
                    "WEIR-110",
                    inPlace.map(InPlace::place).orElse(place),
                    "",
                    "the policy " + name + " has no limit",
                    "set " + property("limit") + ", such as 100/1m"
                            + (inPlace.isPresent() ? ", or limit in the annotation" : ""));
        }
        Optional<Long> burst = reader.optional(property("burst"), LimitParser::permits);
        return text.flatMap(each -> limits.parsed(each, limitPlace(), algorithm, burst, property("burst")));
    }

    /** Where the limit of a policy that has one comes from. */
    private String limitPlace() {
        String property = property("limit");
        return reader.text(property).isPresent()
                ? property
                : inPlace.map(InPlace::place).orElse(place) + " @RateLimit(limit)";
    }

    private Optional<KeyExpression> key() {
        String property = property("key");
        Optional<String> configured = reader.text(property);
        String text = configured
                .or(() -> inPlace.map(InPlace::key).filter(key -> !key.isEmpty()))
                .orElse("principal | ip");
        return words.expression(
                problems,
                text,
                configured.isPresent() ? property : inPlace.map(InPlace::place).orElse(name) + " @RateLimit(key)",
                "a key is made of " + KeyTerms.FORMS + ", with + and |");
    }

    private static String help(String text) {
        if (text.length() > LONGEST_HELP || !text.matches("[!-~]+") || text.matches(".*[<>\"\\\\^`{|}].*")) {
            throw new IllegalArgumentException("must be a URI of printable ASCII");
        }
        return URI.create(text).toString();
    }

    /** A cost, 1 or more. */
    static long cost(String text) {
        if (!text.matches("\\d{1,15}") || Long.parseLong(text) > Limit.MAX_PERMITS) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is no cost: write a whole number from 1 to " + Limit.MAX_PERMITS);
        }
        if (Long.parseLong(text) < 1) {
            throw new IllegalArgumentException("a cost is at least 1");
        }
        return Long.parseLong(text);
    }

    /** Whether a policy can have an attribute. */
    static boolean isAttribute(String attribute) {
        return ATTRIBUTES.contains(attribute)
                || attribute.startsWith(PathRuleReader.COSTS)
                || TierReader.isAttribute(attribute);
    }
}
