// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.cdi.ServletApi;
import jakarta.ws.rs.ConstrainedTo;
import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.core.Feature;
import jakarta.ws.rs.core.FeatureContext;

/**
 * A feature that registers the providers of this package. The runtime finds it as a service (Jakarta REST 3.1, 4.1.2), also for
 * applications that list their classes. The providers have no {@code @Provider}, which would register them twice.
 */
@ConstrainedTo(RuntimeType.SERVER)
public final class RateLimitFeature implements Feature {
    @Override
    public boolean configure(FeatureContext context) {
        // Some client runtimes load services and ignore the annotation above.
        if (context.getConfiguration().getRuntimeType() != RuntimeType.SERVER) {
            return false;
        }
        // ScannedFeature has registered the providers.
        if (context.getConfiguration().isRegistered(RateLimitFilter.class)) {
            return false;
        }
        if (ServletApi.isVisible()) {
            context.register(ServletAccess.class);
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
