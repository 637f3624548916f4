// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.cdi.ResourceOperation;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.policy.Policy;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.PathItem;

/** Finds the limited operations of a document and has their responses documented. */
final class LimitedOperations {
    private final List<ResourceOperation> resources;
    private final List<String> dialects;
    private final Predicate<Policy> tellsQuotas;

    /**
     * The limited operations of an application.
     *
     * @param resources all its operations
     * @param dialects the header dialects of its answers
     * @param tellsQuotas whether header fields tell clients the quotas of a policy
     */
    LimitedOperations(List<ResourceOperation> resources, List<String> dialects, Predicate<Policy> tellsQuotas) {
        this.resources = resources;
        this.dialects = dialects;
        this.tellsQuotas = tellsQuotas;
    }

    void document(OpenAPI openApi) {
        if (openApi.getPaths() == null || openApi.getPaths().getPathItems() == null) {
            return;
        }
        Map<String, PathItem> paths = openApi.getPaths().getPathItems();
        OperationPaths known = new OperationPaths(resources, paths);
        LimitResponses responses = new LimitResponses(openApi);
        paths.forEach((path, item) -> item.getOperations()
                .forEach((method, operation) -> document(known.of(path, method), operation, responses)));
    }

    /** Where a path does not tell which of several methods is called, the operation may meet the policies of each. */
    private void document(List<ResourceOperation> candidates, Operation operation, LimitResponses responses) {
        List<Policy> policies = candidates.stream()
                .flatMap(candidate -> candidate.binding().policies().stream())
                .map(Binding.Costed::policy)
                .distinct()
                .toList();
        if (!policies.isEmpty()) {
            boolean closed = policies.stream().anyMatch(policy -> policy.onFailure() == FailureMode.CLOSED);
            boolean told = policies.stream().anyMatch(tellsQuotas);
            responses.document(operation, told ? QuotaHeaders.of(dialects) : List.of(), closed);
        }
    }
}
