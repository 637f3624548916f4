// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.Config;

/** Makes the policies and the costs of methods out of configuration and annotations. */
public final class Policies {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._$-]{1,128}");
    private static final String COSTS = ConfigReader.PREFIX + "costs.";
    private static final Set<String> ATTRIBUTES =
            Set.of("limit", "algorithm", "burst", "key", "cost", "on-failure", "max-wait", "max-waiting");
    private static final Set<String> PROPERTIES = Set.of(
            "ratelimit.enabled",
            "ratelimit.backend",
            "ratelimit.namespace",
            "ratelimit.redis.address",
            "ratelimit.redis.config",
            "ratelimit.redis.deadline",
            "ratelimit.key-secret",
            "ratelimit.ipv4-prefix",
            "ratelimit.ipv6-prefix",
            "ratelimit.trusted-proxies",
            "ratelimit.forwarded-header",
            "ratelimit.headers",
            "ratelimit.local.max-keys",
            "ratelimit.metrics");

    private static final Set<FailureMode> MODES = Set.of(FailureMode.OPEN, FailureMode.CLOSED);

    private final ConfigReader reader;
    private final KeyTerms terms;
    private final Problems problems;

    private Policies(ConfigReader reader, KeyTerms terms, Problems problems) {
        this.reader = reader;
        this.terms = terms;
        this.problems = problems;
    }

    /**
     * Reads the policies.
     *
     * @param config where from
     * @param rules what annotations say
     * @param terms the terms that key expressions may use
     * @param problems takes what is wrong
     * @return the policies by name, without those that are wrong
     */
    public static Map<String, Policy> read(
            Config config, Collection<MethodRule> rules, KeyTerms terms, Problems problems) {
        Policies policies = new Policies(new ConfigReader(config, problems), terms, problems);
        policies.checkNames(rules);
        return policies.read(rules);
    }

    /**
     * The cost that configuration gives a method.
     *
     * @param config where from
     * @param endpoint {@code Class.method}
     * @param problems takes what is wrong
     * @return the cost, 1 or more, if there is one
     */
    public static Optional<Long> cost(Config config, String endpoint, Problems problems) {
        ConfigReader reader = new ConfigReader(config, problems);
        // Without quotes first: servers turn no environment name into a property that ends with a quote.
        return reader.optional(COSTS + endpoint, Policies::cost)
                .or(() -> reader.optional(COSTS + '"' + endpoint + '"', Policies::cost));
    }

    private Map<String, Policy> read(Collection<MethodRule> rules) {
        Map<String, InPlace> inPlace = inPlace(rules);
        Map<String, String> mentioned = new TreeMap<>();
        reader.policies().keySet().forEach(name -> mentioned.put(name, "ratelimit.policies." + name));
        for (MethodRule rule : rules) {
            rule.policies().forEach(name -> mentioned.putIfAbsent(name, rule.endpoint()));
        }
        Map<String, Policy> policies = new LinkedHashMap<>();
        mentioned.forEach((name, place) -> {
            if (!NAME.matcher(name).matches()) {
                problems.add(
                        "WEIR-105",
                        place,
                        name,
                        "is no name of a policy",
                        "use 1 to 128 of the characters A-Z a-z 0-9 . _ - $");
            } else {
                policy(name, place, Optional.ofNullable(inPlace.get(name)))
                        .ifPresent(policy -> policies.put(name, policy));
            }
        });
        return policies;
    }

    /** What annotations define, where no two contradict each other. */
    private Map<String, InPlace> inPlace(Collection<MethodRule> rules) {
        Map<String, InPlace> definitions = new LinkedHashMap<>();
        for (MethodRule rule : rules) {
            rule.inPlace().ifPresent(mine -> {
                InPlace other = definitions.putIfAbsent(mine.policy(), mine);
                boolean unnamed = mine.policy().equals(rule.endpoint());
                if (other != null && !other.place().equals(mine.place()) && (unnamed || !mine.agreesWith(other))) {
                    problems.add(
                            "WEIR-106",
                            mine.place(),
                            mine.policy(),
                            "defines the same policy as " + other.place(),
                            "give each a policy name of its own in @RateLimit(value = …), or make one @RateLimitExempt");
                }
            });
        }
        return definitions;
    }

    private Optional<Policy> policy(String name, String place, Optional<InPlace> inPlace) {
        Algorithm algorithm = reader.oneOf(
                        reader.policyProperty(name, "algorithm"), Algorithm.values(), Algorithm::configName)
                .or(() -> inPlace.map(InPlace::algorithm))
                .orElse(Algorithm.SLIDING_WINDOW);
        Optional<List<Limit>> unshaped = limits(name, place, algorithm, inPlace);
        Duration maxWait = reader.value(reader.policyProperty(name, "max-wait"), Duration.ZERO, Policies::maxWait);
        Optional<KeyExpression> key = key(name, inPlace);
        int maxWaiting = reader.number(reader.policyProperty(name, "max-waiting"), Policy.MAX_WAITING, 1, 10_000);
        Optional<List<Limit>> limits = unshaped.flatMap(each -> shaped(name, each, maxWait));
        long cost = reader.value(reader.policyProperty(name, "cost"), 1L, Policies::cost);
        FailureMode onFailure = reader.oneOf(
                        reader.policyProperty(name, "on-failure"), FailureMode.values(), FailureMode::configName)
                .orElse(FailureMode.OPEN);
        if (!MODES.contains(onFailure)) {
            problems.add(
                    "WEIR-108",
                    reader.policyProperty(name, "on-failure"),
                    onFailure.configName(),
                    "this failure mode is not available in this version",
                    "use open or closed");
        }
        try {
            return limits.isEmpty() || key.isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            new Policy(new PolicyLimits(name, limits.get()), key.get(), cost, onFailure, maxWaiting));
        } catch (IllegalArgumentException e) {
            problems.add(
                    "WEIR-109",
                    limitPlace(name, place, inPlace),
                    "",
                    String.valueOf(e.getMessage()),
                    "give each limit its own window");
            return Optional.empty();
        }
    }

    private Optional<List<Limit>> limits(String name, String place, Algorithm algorithm, Optional<InPlace> inPlace) {
        String property = reader.policyProperty(name, "limit");
        Optional<String> configured = reader.text(property);
        Optional<String> text = configured.or(() -> inPlace.map(InPlace::limit).filter(limit -> !limit.isEmpty()));
        Optional<Long> burst = reader.optional(reader.policyProperty(name, "burst"), LimitParser::permits);
        if (text.isEmpty()) {
            problems.add(
                    "WEIR-110",
                    inPlace.map(InPlace::place).orElse(place),
                    "",
                    "the policy " + name + " has no limit",
                    "set " + property + ", such as 100/1m"
                            + (inPlace.isPresent() ? ", or limit in the annotation" : ""));
            return Optional.empty();
        }
        try {
            return Optional.of(LimitParser.parse(text.get(), algorithm, burst));
        } catch (IllegalArgumentException e) {
            boolean wrongBurst = burst.isPresent() && isRight(text.get(), algorithm);
            problems.add(
                    wrongBurst ? "WEIR-116" : "WEIR-111",
                    wrongBurst ? reader.policyProperty(name, "burst") : limitPlace(name, place, inPlace),
                    wrongBurst ? burst.get().toString() : text.get(),
                    String.valueOf(e.getMessage()),
                    wrongBurst
                            ? "a burst is what a token bucket or a leaky bucket holds, 1 or more"
                            : "a limit is <permits>/<duration>, such as 100/1m, several separated by commas");
            return Optional.empty();
        }
    }

    /** The limits with calls that may wait, where the policy has a max-wait. */
    private Optional<List<Limit>> shaped(String name, List<Limit> limits, Duration maxWait) {
        try {
            return Optional.of(
                    limits.stream().map(limit -> limit.withMaxWait(maxWait)).toList());
        } catch (IllegalArgumentException e) {
            problems.add(
                    "WEIR-117",
                    reader.policyProperty(name, "max-wait"),
                    maxWait.toMillis() + "ms",
                    String.valueOf(e.getMessage()),
                    "use a shorter max-wait");
            return Optional.empty();
        }
    }

    private static Duration maxWait(String text) {
        Duration longest = Durations.parse(text);
        if (longest.compareTo(Limit.MAX_MAX_WAIT) > 0) {
            throw new IllegalArgumentException("must be from 0s to 1h");
        }
        return longest;
    }

    /** Whether limits would be right without the burst beside them. */
    private static boolean isRight(String limits, Algorithm algorithm) {
        try {
            return !LimitParser.parse(limits, algorithm, Optional.empty()).isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Where the limit of a policy that has one comes from. */
    private String limitPlace(String name, String place, Optional<InPlace> inPlace) {
        String property = reader.policyProperty(name, "limit");
        return reader.text(property).isPresent()
                ? property
                : inPlace.map(InPlace::place).orElse(place) + " @RateLimit(limit)";
    }

    private Optional<KeyExpression> key(String name, Optional<InPlace> inPlace) {
        String property = reader.policyProperty(name, "key");
        Optional<String> configured = reader.text(property);
        String text = configured
                .or(() -> inPlace.map(InPlace::key).filter(key -> !key.isEmpty()))
                .orElse("principal | ip");
        return expression(
                text,
                configured.isPresent() ? property : inPlace.map(InPlace::place).orElse(name) + " @RateLimit(key)");
    }

    private Optional<KeyExpression> expression(String text, String place) {
        try {
            KeyExpression expression = KeyExpression.parse(text, terms);
            if (expression.usesClaims() && !terms.haveClaims()) {
                problems.add(
                        "WEIR-212",
                        place,
                        text,
                        "uses a claim, but MicroProfile JWT is not here for the application",
                        "enable it on the server and make its API visible to the application, or use another term");
            }
            return Optional.of(expression);
        } catch (IllegalArgumentException e) {
            problems.add(
                    "WEIR-112",
                    place,
                    text,
                    String.valueOf(e.getMessage()),
                    "a key is made of " + KeyTerms.FORMS + ", with + and |");
            return Optional.empty();
        }
    }

    private static long cost(String text) {
        long cost = LimitParser.permits(text);
        if (cost < 1) {
            throw new IllegalArgumentException("a cost is at least 1");
        }
        return cost;
    }

    /** A misspelt property, or one that cannot be read, must not be the reason that something is not limited. */
    private void checkNames(Collection<MethodRule> rules) {
        Set<String> endpoints = rules.stream().map(MethodRule::endpoint).collect(Collectors.toCollection(TreeSet::new));
        for (String name : reader.names()) {
            reader.text(name);
            if (name.startsWith(COSTS)) {
                String endpoint = name.substring(COSTS.length()).replace("\"", "");
                if (!endpoints.contains(endpoint)) {
                    problems.add(
                            "WEIR-113",
                            name,
                            "",
                            "no limited method is called " + endpoint,
                            "write ratelimit.costs.\"Class.method\" with one of " + endpoints);
                }
            } else if (!name.startsWith("ratelimit.policies.") && !PROPERTIES.contains(name)) {
                problems.add(
                        "WEIR-114",
                        name,
                        "",
                        "is no property of this version",
                        "use ratelimit.policies.<name>.<attribute>, ratelimit.costs.\"Class.method\" or one of "
                                + new TreeSet<>(PROPERTIES));
            }
        }
        reader.policies().forEach((policy, attributes) -> {
            for (String attribute : attributes) {
                if (!ATTRIBUTES.contains(attribute)) {
                    problems.add(
                            "WEIR-115",
                            "ratelimit.policies." + policy + "." + attribute,
                            "",
                            "is no property of a policy in this version",
                            "use one of " + new TreeSet<>(ATTRIBUTES)
                                    + "; a policy's name with dots is written in quotes");
                }
            }
        });
    }
}
