// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import io.weir.ratelimit.core.instance.ApplicationView;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.models.PathItem;

/**
 * A mapping from the operations of an OpenAPI document to the operations of resources. A path of the document begins with the path of
 * the application, on some servers after the context root. A resource knows neither, so the most frequent prefix is used.
 */
final class OperationPaths {
    private final List<ApplicationView.Operation> resources;
    private final Map<String, Integer> prefixes = new HashMap<>();

    /** A resource that an operation can belong to, with the prefix before its path. */
    private record Candidate(String prefix, ApplicationView.Operation resource) {}

    OperationPaths(List<ApplicationView.Operation> resources, Map<String, PathItem> paths) {
        this.resources = resources;
        paths.forEach((path, item) -> item.getOperations()
                .keySet()
                .forEach(method -> candidates(path, method)
                        .map(Candidate::prefix)
                        .distinct()
                        .forEach(prefix -> prefixes.merge(prefix, 1, Integer::sum))));
    }

    /** Returns the resource operations for an operation of the document; empty if it belongs to no resource. */
    List<ApplicationView.Operation> of(String path, PathItem.HttpMethod method) {
        Optional<String> prefix = candidates(path, method)
                .map(Candidate::prefix)
                .max(Comparator.<String>comparingInt(each -> prefixes.getOrDefault(each, 0))
                        .thenComparing(Comparator.comparingInt(String::length).reversed()));
        return candidates(path, method)
                .filter(candidate -> candidate.prefix().equals(prefix.orElse(null)))
                .filter(candidate -> !candidate.resource().path().isEmpty() || isMostFrequent(candidate.prefix()))
                .map(Candidate::resource)
                .toList();
    }

    private Stream<Candidate> candidates(String path, PathItem.HttpMethod method) {
        String full = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        return resources.stream()
                .filter(resource -> resource.method().equals(method.name()) && full.endsWith(resource.path()))
                .map(resource -> new Candidate(
                        full.substring(0, full.length() - resource.path().length()), resource));
    }

    /** Returns whether no prefix is more frequent. Every path ends with the empty path of a resource at the root. */
    private boolean isMostFrequent(String prefix) {
        int count = prefixes.getOrDefault(prefix, 0);
        return prefixes.values().stream().allMatch(other -> other <= count);
    }
}
