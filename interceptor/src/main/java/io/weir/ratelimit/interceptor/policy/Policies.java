// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.spi.TierResolver;
import java.util.Collection;
import java.util.HashMap;
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
    private static final String PATH_POLICIES = ConfigReader.PREFIX + "path-policies";
    static final Set<String> PROPERTIES = Set.of(
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
            "ratelimit.metrics",
            "ratelimit.instances",
            "ratelimit.health.fail-when-degraded",
            "ratelimit.path-policies",
            "ratelimit.reload-interval",
            "ratelimit.bypass.tokens",
            "ratelimit.bypass.header",
            "ratelimit.bypass.addresses",
            "ratelimit.bypass.roles",
            "ratelimit.console.enabled",
            "ratelimit.console.role",
            "ratelimit.console.open");

    private final Config config;
    private final ConfigReader reader;
    private final Vocabulary words;
    private final Problems problems;
    private final Map<String, List<Origin>> origins = new HashMap<>();

    private Policies(Config config, Vocabulary words, Problems problems) {
        this.config = config;
        this.reader = new ConfigReader(config, problems);
        this.words = words;
        this.problems = problems;
    }

    /**
     * What configuration may name.
     *
     * @param terms the terms that key expressions may use
     * @param tierResolvers the application's, by name
     */
    public record Vocabulary(KeyTerms terms, Map<String, TierResolver> tierResolvers) {
        /** Copies the map. */
        public Vocabulary {
            tierResolvers = Map.copyOf(tierResolvers);
        }

        /** An expression; what is wrong with it is a problem. */
        Optional<KeyExpression> expression(Problems problems, String text, String where, String remedy) {
            try {
                KeyExpression expression = KeyExpression.parse(text, terms);
                if (expression.usesClaims() && !terms.haveClaims()) {
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
    }

    /**
     * What was read.
     *
     * @param policies the policies by name, without those that have no limits or no key
     * @param wrong the names of policies of which something is wrong
     * @param complete whether nothing beside those is wrong, so that a policy that is not there is not meant to be
     * @param origins where the values of the policies come from
     */
    public record Read(
            Map<String, Policy> policies, Set<String> wrong, boolean complete, Map<String, List<Origin>> origins) {}

    /**
     * Reads the policies.
     *
     * @param config where from
     * @param rules what annotations say
     * @param words what configuration may name
     * @param problems takes what is wrong
     * @return the policies
     */
    public static Read read(Config config, Collection<MethodRule> rules, Vocabulary words, Problems problems) {
        Problems general = new Problems();
        Problems ofPolicies = new Problems();
        Policies policies = new Policies(config, words, general);
        Set<String> wrong = new TreeSet<>(policies.checkNames(rules, ofPolicies));
        Map<String, Policy> read = policies.read(rules, wrong, ofPolicies);
        problems.addAll(general.found());
        problems.addAll(ofPolicies.found());
        return new Read(read, wrong, general.found().isEmpty(), policies.origins);
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
        return reader.optional(COSTS + endpoint, PolicyReader::cost)
                .or(() -> reader.optional(COSTS + '"' + endpoint + '"', PolicyReader::cost));
    }

    private Map<String, Policy> read(Collection<MethodRule> rules, Set<String> wrong, Problems ofPolicies) {
        Map<String, InPlace> inPlace = inPlace(rules);
        Map<String, Set<String>> attributes = reader.policies();
        Map<String, String> mentioned = new TreeMap<>();
        attributes.keySet().forEach(name -> mentioned.put(name, "ratelimit.policies." + name));
        reader.optional(PATH_POLICIES, ConfigReader::list)
                .orElse(List.of())
                .forEach(name -> mentioned.putIfAbsent(name, PATH_POLICIES));
        for (MethodRule rule : rules) {
            rule.policies().forEach(name -> mentioned.putIfAbsent(name, rule.endpoint()));
        }
        Map<String, Policy> policies = new LinkedHashMap<>();
        mentioned.forEach((name, place) -> {
            Problems own = new Problems();
            policy(name, place, attributes.getOrDefault(name, Set.of()), inPlace, own)
                    .ifPresent(policy -> policies.put(name, policy));
            if (!own.found().isEmpty()) {
                wrong.add(name);
            }
            ofPolicies.addAll(own.found());
        });
        return policies;
    }

    private Optional<Policy> policy(
            String name, String place, Set<String> attributes, Map<String, InPlace> inPlace, Problems own) {
        if (!NAME.matcher(name).matches()) {
            own.add(
                    "WEIR-105",
                    place,
                    name,
                    "is no name of a policy",
                    "use 1 to 128 of the characters A-Z a-z 0-9 . _ - $");
            return Optional.empty();
        }
        ConfigReader ofPolicy = new ConfigReader(config, own);
        Optional<InPlace> annotation = Optional.ofNullable(inPlace.get(name));
        Optional<Policy> read = new PolicyReader(ofPolicy, words, own, name, place, annotation).read(attributes);
        read.ifPresent(
                policy -> origins.put(name, new OriginReader(ofPolicy, name, annotation).read(attributes, policy)));
        return read;
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

    /**
     * A misspelt property, or one that cannot be read, must not be the reason that something is not limited.
     *
     * @return the policies that have a misspelt attribute
     */
    private Set<String> checkNames(Collection<MethodRule> rules, Problems ofPolicies) {
        Set<String> misspelt = new TreeSet<>();
        Set<String> endpoints = rules.stream().map(MethodRule::endpoint).collect(Collectors.toCollection(TreeSet::new));
        ConfigReader readerOfPolicies = new ConfigReader(config, ofPolicies);
        for (String name : reader.names()) {
            (name.startsWith("ratelimit.policies.") ? readerOfPolicies : reader).text(name);
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
                if (!PolicyReader.isAttribute(attribute)) {
                    misspelt.add(policy);
                    ofPolicies.add(
                            "WEIR-115",
                            "ratelimit.policies." + policy + "." + attribute,
                            "",
                            "is no property of a policy in this version",
                            "use one of " + new TreeSet<>(PolicyReader.ATTRIBUTES)
                                    + ", tiers.<tier>.limit, tiers.<tier>.burst, costs.<path>"
                                    + "; a policy's name with dots is written in quotes");
                }
            }
        });
        return misspelt;
    }
}
