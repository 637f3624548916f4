// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TierResolver;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

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
            "tier",
            "mode",
            "count",
            "disclosure",
            "help",
            "paths",
            "methods",
            "phase");

    private static final String TIERS = "tiers.";

    private static final Set<FailureMode> FAILURE_MODES = Set.of(FailureMode.OPEN, FailureMode.CLOSED);
    private static final Pattern TIER = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Set<String> TIER_ATTRIBUTES = Set.of("limit", "burst");
    private static final int LONGEST_HELP = 2_000;

    private final ConfigReader reader;
    private final Policies.Vocabulary words;
    private final Problems problems;
    private final String name;
    private final String place;
    private final Optional<InPlace> inPlace;

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
                .orElse(Algorithm.SLIDING_WINDOW);
        Optional<List<Limit>> unshaped = limits(algorithm);
        Duration maxWait = reader.value(property("max-wait"), Duration.ZERO, PolicyReader::maxWait);
        Optional<KeyExpression> key = key();
        int maxWaiting = reader.number(property("max-waiting"), Policy.MAX_WAITING, 1, 10_000);
        Optional<PolicyLimits> limits =
                unshaped.flatMap(each -> shaped(each, maxWait)).flatMap(each -> named("none", limitPlace(), each));
        long cost = reader.value(property("cost"), 1L, PolicyReader::cost);
        FailureMode onFailure = onFailure();
        Tiers tiers = tiers(attributes, algorithm, maxWait, key);
        Policy.Mode mode = oneOf("mode", Policy.Mode.values(), Policy.Mode.ENFORCE);
        Policy.Count count = oneOf("count", Policy.Count.values(), Policy.Count.ALWAYS);
        Policy.Disclosure disclosure = oneOf("disclosure", Policy.Disclosure.values(), Policy.Disclosure.FULL);
        Optional<String> help = reader.optional(property("help"), PolicyReader::help);
        Optional<PathRule> rule = new PathRuleReader(reader, problems, name).read(attributes, key);
        return limits.isEmpty() || key.isEmpty()
                ? Optional.empty()
                : Optional.of(new Policy(
                        limits.get(),
                        tiers,
                        key.get(),
                        cost,
                        onFailure,
                        maxWaiting,
                        mode,
                        count,
                        disclosure,
                        help,
                        rule));
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

    private FailureMode onFailure() {
        FailureMode mode = reader.oneOf(property("on-failure"), FailureMode.values(), FailureMode::configName)
                .orElse(FailureMode.OPEN);
        if (!FAILURE_MODES.contains(mode)) {
            problems.add(
                    "WEIR-108",
                    property("on-failure"),
                    mode.configName(),
                    "this failure mode is not available in this version",
                    "use open or closed");
        }
        return mode;
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
        return text.flatMap(limits -> parsed(limits, limitPlace(), algorithm, burst, property("burst")));
    }

    /** Limits with their burst; which of both is wrong, is said. */
    private Optional<List<Limit>> parsed(
            String text, String limitPlace, Algorithm algorithm, Optional<Long> burst, String burstPlace) {
        try {
            return Optional.of(LimitParser.parse(text, algorithm, burst));
        } catch (IllegalArgumentException e) {
            boolean wrongBurst = burst.isPresent() && isRight(text, algorithm);
            problems.add(
                    wrongBurst ? "WEIR-116" : "WEIR-111",
                    wrongBurst ? burstPlace : limitPlace,
                    wrongBurst ? burst.get().toString() : text,
                    String.valueOf(e.getMessage()),
                    wrongBurst
                            ? "a burst is what a token bucket or a leaky bucket holds, 1 or more"
                            : "a limit is <permits>/<duration>, such as 100/1m, several separated by commas");
            return Optional.empty();
        }
    }

    /** Whether limits would be right without the burst beside them. */
    private static boolean isRight(String limits, Algorithm algorithm) {
        try {
            return !LimitParser.parse(limits, algorithm, Optional.empty()).isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The limits with calls that may wait, where the policy has a max-wait. */
    private Optional<List<Limit>> shaped(List<Limit> limits, Duration maxWait) {
        try {
            return Optional.of(
                    limits.stream().map(limit -> limit.withMaxWait(maxWait)).toList());
        } catch (IllegalArgumentException e) {
            problems.add(
                    "WEIR-117",
                    property("max-wait"),
                    maxWait.toMillis() + "ms",
                    String.valueOf(e.getMessage()),
                    "use a shorter max-wait");
            return Optional.empty();
        }
    }

    private Optional<PolicyLimits> named(String tier, String limitPlace, List<Limit> limits) {
        try {
            return Optional.of(new PolicyLimits(name, tier, limits));
        } catch (IllegalArgumentException e) {
            problems.add("WEIR-109", limitPlace, "", String.valueOf(e.getMessage()), "give each limit its own window");
            return Optional.empty();
        }
    }

    /** Where the limit of a policy that has one comes from. */
    private String limitPlace() {
        String property = property("limit");
        return reader.text(property).isPresent()
                ? property
                : inPlace.map(InPlace::place).orElse(place) + " @RateLimit(limit)";
    }

    private static Duration maxWait(String text) {
        Duration longest = Durations.parse(text);
        if (longest.compareTo(Limit.MAX_MAX_WAIT) > 0) {
            throw new IllegalArgumentException("must be from 0s to 1h");
        }
        return longest;
    }

    private Optional<KeyExpression> key() {
        String property = property("key");
        Optional<String> configured = reader.text(property);
        String text = configured
                .or(() -> inPlace.map(InPlace::key).filter(key -> !key.isEmpty()))
                .orElse("principal | ip");
        return expression(
                text,
                configured.isPresent() ? property : inPlace.map(InPlace::place).orElse(name) + " @RateLimit(key)",
                "a key is made of " + KeyTerms.FORMS + ", with + and |");
    }

    private Optional<KeyExpression> expression(String text, String where, String remedy) {
        try {
            KeyExpression expression = KeyExpression.parse(text, words.terms());
            if (expression.usesClaims() && !words.terms().haveClaims()) {
                problems.add(
                        "WEIR-212",
                        where,
                        text,
                        "uses a claim, but MicroProfile JWT is not here for the application",
                        "enable it on the server and make its API visible to the application, or use another term");
            }
            return Optional.of(expression);
        } catch (IllegalArgumentException e) {
            problems.add("WEIR-112", where, text, String.valueOf(e.getMessage()), remedy);
            return Optional.empty();
        }
    }

    private Tiers tiers(Set<String> attributes, Algorithm algorithm, Duration maxWait, Optional<KeyExpression> key) {
        Map<String, PolicyLimits> limits = new LinkedHashMap<>();
        Set<String> names = new TreeSet<>();
        attributes.stream()
                .filter(attribute -> attribute.startsWith(TIERS))
                .map(attribute -> attribute.substring(TIERS.length(), attribute.lastIndexOf('.')))
                .forEach(names::add);
        for (String tier : names) {
            tierLimits(tier, algorithm, maxWait).ifPresent(each -> limits.put(ConfigReader.unquoted(tier), each));
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
                .map(resolver -> new Tiers(named.get(), resolver, limits))
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
        return parsed(text.get(), limit, algorithm, reader.optional(burst, LimitParser::permits), burst)
                .flatMap(each -> shaped(each, maxWait))
                .flatMap(each -> named(ConfigReader.unquoted(tier), limit, each));
    }

    private Optional<TierResolver> tierResolver(String property, String text, Optional<KeyExpression> key) {
        TierResolver bean = words.tierResolvers().get(text);
        if (bean != null) {
            return Optional.of(bean);
        }
        String remedy = "a tier is named by a TierResolver bean, here one of "
                + new TreeSet<>(words.tierResolvers().keySet()) + ", or by " + KeyTerms.FORMS + ", with | between them";
        return expression(text, property, remedy).flatMap(expression -> {
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

    private static String help(String text) {
        if (text.length() > LONGEST_HELP || !text.matches("[!-~]+") || text.matches(".*[<>\"\\\\^`{|}].*")) {
            throw new IllegalArgumentException("must be a URI of printable ASCII");
        }
        return URI.create(text).toString();
    }

    /** A cost, 1 or more. */
    static long cost(String text) {
        long cost = LimitParser.permits(text);
        if (cost < 1) {
            throw new IllegalArgumentException("a cost is at least 1");
        }
        return cost;
    }

    /** Whether a policy can have an attribute. */
    static boolean isAttribute(String attribute) {
        if (attribute.startsWith(TIERS)) {
            return attribute.lastIndexOf('.') > TIERS.length()
                    && TIER_ATTRIBUTES.contains(attribute.substring(attribute.lastIndexOf('.') + 1));
        }
        return ATTRIBUTES.contains(attribute) || attribute.startsWith(PathRuleReader.COSTS);
    }
}
