// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.interceptor.key.KeyExpression;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Reads to which requests a policy applies without an annotation. */
final class PathRuleReader {
    static final String COSTS = "costs.";

    private final ConfigReader reader;
    private final Problems problems;
    private final String name;

    PathRuleReader(ConfigReader reader, Problems problems, String name) {
        this.reader = reader;
        this.problems = problems;
        this.name = name;
    }

    private String property(String attribute) {
        return reader.policyProperty(name, attribute);
    }

    /** The rule, empty if the policy has none. */
    Optional<PathRule> read(Set<String> attributes, Optional<KeyExpression> key) {
        Optional<String> paths = reader.text(property("paths"));
        boolean byDefault = paths.filter("default"::equals).isPresent();
        Optional<List<PathPattern>> patterns =
                byDefault ? Optional.of(List.of()) : reader.optional(property("paths"), PathRuleReader::paths);
        Map<PathPattern, Long> costs = costs(attributes);
        Set<String> methods = new TreeSet<>(
                reader.optional(property("methods"), PathRuleReader::methods).orElse(List.of()));
        boolean early = reader.value(property("phase"), false, PathRuleReader::early);
        boolean applies = paths.isPresent() || !costs.isEmpty();
        if (!applies && (early || !methods.isEmpty())) {
            misplaced("methods and phase are of policies with paths", "set " + property("paths") + ", such as /api/*");
        }
        if (early && byDefault) {
            misplaced(
                    "whether another policy applies is not known early",
                    "name the paths of " + name + ", such as /*, or use phase=normal");
        }
        key.filter(expression -> applies && expression.needsArguments())
                .ifPresent(expression -> misplaced(
                        "a path has no arguments for the key " + expression, "use @RateLimit, or a key without arg:"));
        key.filter(expression -> early && !expression.isEarly())
                .ifPresent(expression -> misplaced(
                        "before the request is matched and its user known, the key " + expression + " cannot be told",
                        "use a key of ip, global and header:<name>, or phase=normal"));
        return applies
                ? Optional.of(new PathRule(patterns.orElse(List.of()), byDefault, methods, costs, early))
                : Optional.empty();
    }

    private void misplaced(String problem, String remedy) {
        problems.add("WEIR-121", "ratelimit.policies." + name, "", problem, remedy);
    }

    private Map<PathPattern, Long> costs(Set<String> attributes) {
        Map<PathPattern, Long> costs = new LinkedHashMap<>();
        for (String attribute : attributes) {
            if (attribute.startsWith(COSTS)) {
                String property = property(attribute);
                Optional<PathPattern> path = reader.optional(
                        property, any -> PathPattern.parse(ConfigReader.unquoted(attribute.substring(COSTS.length()))));
                Optional<Long> cost = reader.optional(property, LimitParser::permits);
                if (path.isPresent() && cost.isPresent() && costs.put(path.get(), cost.get()) != null) {
                    problems.add(
                            "WEIR-122",
                            property,
                            cost.get().toString(),
                            "another cost is for the same paths",
                            "keep one of them");
                }
            }
        }
        return costs;
    }

    private static List<String> methods(String text) {
        List<String> methods = ConfigReader.list(text);
        if (methods.isEmpty() || methods.stream().anyMatch(method -> !method.matches("[A-Z][A-Z-]{0,31}"))) {
            throw new IllegalArgumentException("must be HTTP methods in upper case, separated by commas");
        }
        return methods;
    }

    private static boolean early(String text) {
        if (!text.equals("early") && !text.equals("normal")) {
            throw new IllegalArgumentException("must be normal or early");
        }
        return text.equals("early");
    }

    private static List<PathPattern> paths(String text) {
        List<PathPattern> paths =
                ConfigReader.list(text).stream().map(PathPattern::parse).toList();
        if (paths.isEmpty()) {
            throw new IllegalArgumentException("must be default, or paths separated by commas");
        }
        return paths;
    }
}
