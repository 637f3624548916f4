// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.openapi;

import static io.weir.ratelimit.interceptor.openapi.LimitResponses.PROBLEM_JSON;

import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.media.Content;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;
import org.eclipse.microprofile.openapi.models.responses.APIResponses;

/** The operation of the quota resource, at a path below the context root, in an OpenAPI document. */
record QuotaOperation(String path) {
    /** Adds the operation, unless the document has the path. */
    void addTo(OpenAPI openApi) {
        if (openApi.getPaths() == null) {
            openApi.setPaths(OASFactory.createPaths());
        }
        if (openApi.getPaths().hasPathItem(path)) {
            return;
        }
        APIResponses responses = OASFactory.createAPIResponses()
                .addAPIResponse("200", response("The quotas by policy and limit.", "application/json"))
                .addAPIResponse("429", response("The caller reads its quotas too often.", PROBLEM_JSON))
                .addAPIResponse("503", response("The quotas cannot be read at the moment.", PROBLEM_JSON));
        Operation read = OASFactory.createOperation()
                .operationId("rateLimits")
                .summary("The quotas of the caller")
                .responses(responses);
        openApi.getPaths().addPathItem(path, OASFactory.createPathItem().GET(read));
    }

    private static APIResponse response(String description, String mediaType) {
        Content content = OASFactory.createContent()
                .addMediaType(mediaType, OASFactory.createMediaType().schema(OASFactory.createSchema()));
        return OASFactory.createAPIResponse().description(description).content(content);
    }
}
