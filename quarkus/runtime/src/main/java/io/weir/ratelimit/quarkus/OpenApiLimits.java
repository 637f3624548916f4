// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.smallrye.openapi.OpenApiFilter;
import io.weir.ratelimit.interceptor.openapi.RateLimitOpenApiFilter;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;

/** The responses of limited operations in the OpenAPI document. They are known only after the start, and can change. */
@OpenApiFilter(stages = OpenApiFilter.RunStage.RUNTIME_PER_REQUEST)
public class OpenApiLimits implements OASFilter {
    @Override
    public void filterOpenAPI(OpenAPI openApi) {
        new RateLimitOpenApiFilter().filterOpenAPI(openApi);
    }
}
