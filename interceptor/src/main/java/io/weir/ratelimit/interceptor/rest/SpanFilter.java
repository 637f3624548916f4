// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.engine.RequestRecord;
import io.weir.ratelimit.interceptor.observe.SpanMarks;
import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;

/**
 * Marks the span of an admitted request that had none when it was decided: SmallRye begins it in a filter of its own, at
 * {@code USER}. A request that was refused before has no span there.
 */
@Priority(Priorities.USER + 100)
public class SpanFilter implements ContainerRequestFilter {
    static final String UNMARKED = SpanFilter.class.getName();

    @Override
    public void filter(ContainerRequestContext request) {
        if (request.getProperty(UNMARKED) instanceof SpanMarks spans
                && spans.isSpanHere()
                && request.getProperty(RateLimitFilter.RECORD) instanceof RequestRecord record) {
            record.lastEvent().ifPresent(spans::mark);
        }
    }
}
