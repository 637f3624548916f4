// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The requests that a policy applies to although no annotation names it.
 *
 * @param paths the paths; those with a cost of their own apply too
 * @param byDefault whether it applies where no other policy does
 * @param methods the HTTP methods in upper case, all if there is none; those for {@code GET} are for {@code HEAD} too
 * @param costs what a call of a path spends, 0 if it is free
 * @param early whether it is decided before the request is matched and its user known
 */
public record PathRule(
        List<PathPattern> paths, boolean byDefault, Set<String> methods, Map<PathPattern, Long> costs, boolean early) {

    /** Copies the collections. */
    public PathRule {
        paths = List.copyOf(paths);
        methods = Set.copyOf(methods);
        costs = Map.copyOf(costs);
    }

    /**
     * A path that the rule applies to, and what a request of it spends.
     *
     * @param path the most specific path that matches
     * @param cost permits, 0 if it is free; empty if the rule does not say
     */
    public record Match(PathPattern path, Optional<Long> cost) {}

    /**
     * Whether the rule applies to a request, apart from {@link #byDefault()}.
     *
     * @param method the HTTP method
     * @param path the request's path
     * @return how, empty if not at all
     */
    public Optional<Match> match(String method, RequestPath path) {
        if (!isFor(method)) {
            return Optional.empty();
        }
        return PathPattern.mostSpecific(costs.keySet(), path)
                .or(() -> PathPattern.mostSpecific(paths, path))
                .map(found -> new Match(found, Optional.ofNullable(costs.get(found))));
    }

    /**
     * Whether the rule applies to a request to which no other policy does.
     *
     * @param method the HTTP method
     * @return true if it does
     */
    public boolean isDefaultFor(String method) {
        return byDefault && isFor(method);
    }

    /**
     * The rule in words.
     *
     * @return such as {@code paths /api/*, /api/export at cost 9, GET POST}
     */
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

    private boolean isFor(String method) {
        return methods.isEmpty() || methods.contains(method) || (method.equals("HEAD") && methods.contains("GET"));
    }
}
