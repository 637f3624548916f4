// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.ConstrainedTo;
import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.core.Feature;
import jakarta.ws.rs.core.FeatureContext;

/**
 * Registers what this package adds to an application. Found as a service (Jakarta REST 3.1, 4.1.2), also by applications that
 * list their classes; none of the registered classes is a {@code @Provider}, or it would be registered twice.
 */
@ConstrainedTo(RuntimeType.SERVER)
public final class RateLimitFeature implements Feature {
    @Override
    public boolean configure(FeatureContext context) {
        // Not every client runtime that loads services knows the annotation above.
        if (context.getConfiguration().getRuntimeType() != RuntimeType.SERVER) {
            return false;
        }
        // By way of ScannedFeature.
        if (context.getConfiguration().isRegistered(RateLimitFilter.class)) {
            return false;
        }
        context.register(EarlyFilter.class);
        context.register(RateLimitFilter.class);
        context.register(SpanFilter.class);
        context.register(QuotaFilter.class);
        context.register(ResourceClasses.class);
        context.register(ExceededMapper.class);
        context.register(UnavailableMapper.class);
        return true;
    }
}
