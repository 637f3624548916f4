// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import io.weir.ratelimit.core.policy.MethodLimits;
import io.weir.ratelimit.core.policy.PathPattern;
import io.weir.ratelimit.core.policy.RequestPath;
import io.weir.ratelimit.core.request.Binding;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The methods and resources that are found in an application at its start.
 *
 * @param mappings the URL patterns of servlets that Jakarta REST can be, such as {@code /api/*}; empty if they are not known
 * @param usesLimiter whether code with a {@code RateLimiter} can use any policy
 * @param hidesClasses whether a resource that was not found can name a policy
 */
public record ApplicationView(
        List<MethodLimits> methods,
        List<Operation> operations,
        Set<String> mappings,
        boolean usesLimiter,
        boolean hidesClasses) {
    private static final String BELOW = "/*";

    public ApplicationView {
        methods = List.copyOf(methods);
        operations = List.copyOf(operations);
        mappings = Collections.unmodifiableSet(new TreeSet<>(mappings));
    }

    /** Tests whether code that is not known can use any policy. */
    boolean hidesPolicies() {
        return usesLimiter || hidesClasses;
    }

    /** Tests whether no annotation names a policy and no other code can use it. */
    public boolean isUnused(String policy) {
        return !hidesPolicies() && !policiesOfAnnotations().contains(policy);
    }

    Set<String> policiesOfAnnotations() {
        return methods.stream()
                .flatMap(method -> method.policies().stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    Set<String> endpoints() {
        return methods.stream().map(MethodLimits::endpoint).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Tests whether a request that Jakarta REST serves can match a pattern. */
    boolean canServe(PathPattern pattern) {
        return mappings.isEmpty()
                || mappings.stream()
                        .anyMatch(mapping -> mapping.endsWith(BELOW)
                                ? pattern.reaches(
                                        RequestPath.of(mapping.substring(0, mapping.length() - BELOW.length())))
                                : pattern.matches(RequestPath.of(mapping)));
    }

    /**
     * An operation of a resource, with the policies of its annotations.
     *
     * @param path the path template below the path of the application, without regular expressions; empty, or with a slash at the start and
     *     none at the end
     */
    public record Operation(String method, String path, Binding binding) {}
}
