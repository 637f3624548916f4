// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import io.weir.ratelimit.interceptor.servlet.ServletAccess;
import jakarta.ws.rs.ConstrainedTo;
import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.core.Feature;
import jakarta.ws.rs.core.FeatureContext;

/**
 * A feature that registers the providers of this package and checks resources. The runtime finds it as a service (Jakarta REST 3.1, 4.1.2),
 * also for applications that list their classes. The providers have no {@code @Provider}, which would register them twice.
 */
@ConstrainedTo(RuntimeType.SERVER)
public sealed class RateLimitFeature implements Feature permits ScannedFeature {
    /** A property of a REST application in the JVM of a test, which no servlet container serves although the Servlet API can be visible. */
    public static final String WITHOUT_SERVLETS = "io.weir.ratelimit.without-servlets";

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
        if (OptionalApi.SERVLET.isVisible() && context.getConfiguration().getProperty(WITHOUT_SERVLETS) == null) {
            context.register(ServletAccess.class);
        }
        context.register(ArrivalFilter.class);
        context.register(EarlyFilter.class);
        context.register(MatchedEarlyFilter.class);
        context.register(RateLimitFilter.class);
        context.register(SpanFilter.class);
        context.register(QuotaFilter.class);
        context.register(ResourceClasses.class);
        context.register(ExceededMapper.class);
        context.register(UnavailableMapper.class);
        WrappedMapper.register(context);
        // Only Jersey shows the classes of resources to a feature, and only Payara needs the check of those that are
        // not beans.
        try {
            CurrentApplication.extension()
                    .checkResources(context.getConfiguration().getClasses());
        } catch (IllegalStateException e) {
            MessageCatalog.debug("The resource classes are not checked, because there is no CDI container", e);
        }
        return true;
    }
}
