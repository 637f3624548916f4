// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.LaterEntry;
import jakarta.annotation.Priority;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.PreMatching;
import java.util.concurrent.Executor;

/**
 * The entry point of all requests to the application's resources, also of those that end with 401 or 404, for policies with {@code
 * phase=early}. The resource method and the user are not known yet. {@link MatchedEarlyFilter} compares again what a later filter changes.
 */
@PreMatching
@Priority(100)
public class EarlyFilter extends GateFilter {
    @Override
    Entry enter(ContainerRequestContext request) {
        return context().gate().enterEarly(call(request));
    }

    @Override
    protected LaterEntry enterAsync(ContainerRequestContext request, Executor threads) {
        return context().gate().enterEarlyAsync(call(request), threads);
    }

    private RestCall call(ContainerRequestContext request) {
        return RestCall.early(request, context().servlet());
    }
}
