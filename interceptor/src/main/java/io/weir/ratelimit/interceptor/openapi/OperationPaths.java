// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import io.weir.ratelimit.interceptor.cdi.ResourceOperation;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.models.PathItem;

/**
 * Which operation of the resources one of the document is. A path of the document begins with that of the application, by
 * annotation or {@code web.xml}, and on some servers with the context root before it; a resource knows neither. What precedes the
 * path of a resource is taken for them where it precedes more resources than anything else does.
 */
final class OperationPaths {
    private final List<ResourceOperation> resources;
    private final Map<String, Integer> prefixes = new HashMap<>();

    /** What precedes the path of a resource, if the operation is that of the resource. */
    private record Guess(String prefix, ResourceOperation resource) {}

    OperationPaths(List<ResourceOperation> resources, Map<String, PathItem> paths) {
        this.resources = resources;
        paths.forEach((path, item) -> item.getOperations()
                .keySet()
                .forEach(method -> guesses(path, method)
                        .map(Guess::prefix)
                        .distinct()
                        .forEach(prefix -> prefixes.merge(prefix, 1, Integer::sum))));
    }

    /** The operations that one of the document can be, none if it is not that of a resource. */
    List<ResourceOperation> of(String path, PathItem.HttpMethod method) {
        Optional<String> prefix = guesses(path, method)
                .map(Guess::prefix)
                .max(Comparator.<String>comparingInt(each -> prefixes.getOrDefault(each, 0))
                        .thenComparing(Comparator.comparingInt(String::length).reversed()));
        return guesses(path, method)
                .filter(guess -> guess.prefix().equals(prefix.orElse(null)))
                .filter(guess -> !guess.resource().path().isEmpty() || isTheCommonest(guess.prefix()))
                .map(Guess::resource)
                .toList();
    }

    private Stream<Guess> guesses(String path, PathItem.HttpMethod method) {
        String full = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        return resources.stream()
                .filter(resource -> resource.method().equals(method.name()) && full.endsWith(resource.path()))
                .map(resource -> new Guess(
                        full.substring(0, full.length() - resource.path().length()), resource));
    }

    /** Any path at all ends in that of a resource at the root. */
    private boolean isTheCommonest(String prefix) {
        int times = prefixes.getOrDefault(prefix, 0);
        return prefixes.values().stream().allMatch(other -> other <= times);
    }
}
