// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.PathItem;

/** The limited operations of an OpenAPI document: the operations of resources, and the header dialects of their responses. */
record LimitedOperations(List<ApplicationView.Operation> resources, List<String> dialects, PolicyLookup policies) {
    /** A look-up of the policies that apply to the requests of an operation. */
    interface PolicyLookup {
        List<Binding.PolicyCost> of(Binding own, String method, String path);
    }

    void document(OpenAPI openApi) {
        if (openApi.getPaths() == null || openApi.getPaths().getPathItems() == null) {
            return;
        }
        Map<String, PathItem> paths = openApi.getPaths().getPathItems();
        OperationPaths known = new OperationPaths(resources, paths);
        LimitResponses responses = new LimitResponses(openApi);
        paths.forEach((path, item) -> item.getOperations().forEach((method, operation) -> {
            // The policies of all methods that the operation can call.
            List<Policy> applied = known.of(path, method).stream()
                    .flatMap(resource -> policies.of(resource.binding(), method.name(), path).stream())
                    .map(Binding.PolicyCost::policy)
                    .filter(Policy::canReject)
                    .distinct()
                    .toList();
            if (!applied.isEmpty()) {
                boolean unavailable = applied.stream().anyMatch(policy -> policy.onFailure() != FailureMode.OPEN);
                boolean minimal = applied.stream()
                        .anyMatch(policy -> policy.response().disclosure() == Policy.Disclosure.MINIMAL);
                responses.document(operation, minimal ? List.of() : QuotaHeaders.of(dialects), unavailable);
            }
        }));
    }
}
