// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The requests that a policy applies to without an annotation.
 *
 * @param paths the paths without a cost
 * @param byDefault whether the policy applies to requests without another policy
 * @param methods the HTTP methods in upper case, empty for all; {@code GET} includes {@code HEAD}
 * @param costs the paths with a cost, 0 if a request is free
 */
public record PathRule(
        List<PathPattern> paths, boolean byDefault, Set<String> methods, Map<PathPattern, Long> costs, boolean early) {

    public PathRule {
        paths = List.copyOf(paths);
        methods = Set.copyOf(methods);
        costs = Map.copyOf(costs);
    }

    /** The most specific path that matches a request, and its cost in permits: 0 if the request is free; empty if the path has none. */
    public record Match(PathPattern path, Optional<Long> cost) {}

    /** Returns the match of a request with the paths; empty if no path matches. */
    public Optional<Match> match(String method, RequestPath path) {
        if (!includes(method)) {
            return Optional.empty();
        }
        return PathPattern.mostSpecific(costs.keySet(), path)
                .or(() -> PathPattern.mostSpecific(paths, path))
                .map(found -> new Match(found, Optional.ofNullable(costs.get(found))));
    }

    /** Tests whether requests can match whose path has no cost of its own. */
    boolean hasPathsWithoutCost() {
        return byDefault
                || paths.stream()
                        .anyMatch(path -> costs.keySet().stream().noneMatch(withCost -> withCost.covers(path)));
    }

    /** Tests whether the rule applies to requests without another policy. */
    public boolean isDefaultFor(String method) {
        return byDefault && includes(method);
    }

    /** Returns a text such as {@code paths /api/*, /api/export at cost 9, GET POST}. */
    public String text() {
        List<String> texts = new ArrayList<>();
        paths.forEach(path -> texts.add(path.toString()));
        new TreeMap<>(costs.entrySet().stream()
                        .collect(Collectors.toMap(cost -> cost.getKey().toString(), cost -> cost.getValue())))
                .forEach((path, cost) -> texts.add(path + " at cost " + cost));
        return (early ? "early, " : "")
                + (byDefault ? "where no other policy applies" : "")
                + (texts.isEmpty() ? "" : (byDefault ? ", " : "") + "paths " + String.join(", ", texts))
                + (methods.isEmpty() ? "" : ", " + String.join(" ", new TreeSet<>(methods)));
    }

    /** Ignores the case, because RESTEasy calls the method for {@code POST} for {@code post} as well. */
    private boolean includes(String method) {
        if (methods.isEmpty() || methods.contains(method)) {
            return true;
        }
        String upper = method.toUpperCase(Locale.ROOT);
        return methods.contains(upper) || (upper.equals("HEAD") && methods.contains("GET"));
    }
}
