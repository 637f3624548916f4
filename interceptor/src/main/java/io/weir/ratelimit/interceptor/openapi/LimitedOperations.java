// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.engine.Binding;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.interceptor.cdi.ResourceOperation;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.PathItem;

/** Finds the limited operations of a document and has their responses documented. */
final class LimitedOperations {
    private final List<ResourceOperation> resources;
    private final List<String> dialects;
    private final Rules rules;

    /** Which policies apply to the requests of an operation. */
    interface Rules {
        /**
         * The policies.
         *
         * @param own those of its method
         * @param method the HTTP method
         * @param path the path of the document
         */
        List<Binding.PolicyCost> of(Binding own, String method, String path);
    }

    /**
     * The limited operations of an application.
     *
     * @param resources all its operations
     * @param dialects the header dialects of its answers
     * @param rules which policies apply to them
     */
    LimitedOperations(List<ResourceOperation> resources, List<String> dialects, Rules rules) {
        this.resources = resources;
        this.dialects = dialects;
        this.rules = rules;
    }

    void document(OpenAPI openApi) {
        if (openApi.getPaths() == null || openApi.getPaths().getPathItems() == null) {
            return;
        }
        Map<String, PathItem> paths = openApi.getPaths().getPathItems();
        OperationPaths known = new OperationPaths(resources, paths);
        LimitResponses responses = new LimitResponses(openApi);
        paths.forEach((path, item) -> item.getOperations().forEach((method, operation) -> {
            List<Policy> policies = known.of(path, method).stream()
                    .flatMap(resource -> rules.of(resource.binding(), method.name(), path).stream())
                    .map(Binding.PolicyCost::policy)
                    .filter(policy -> policy.mode() == Policy.Mode.ENFORCE)
                    .distinct()
                    .toList();
            if (!policies.isEmpty()) {
                document(operation, policies, responses);
            }
        }));
    }

    /** Where a path does not tell which of several methods is called, the operation may meet the policies of each. */
    private void document(Operation operation, List<Policy> policies, LimitResponses responses) {
        boolean unavailable = policies.stream().anyMatch(policy -> policy.onFailure() != FailureMode.OPEN);
        boolean minimal = policies.stream().anyMatch(policy -> policy.disclosure() == Policy.Disclosure.MINIMAL);
        responses.document(operation, minimal ? List.of() : QuotaHeaders.of(dialects), unavailable);
    }
}
