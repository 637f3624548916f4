// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.cdi.DeployedApplication;
import io.weir.ratelimit.interceptor.cdi.MethodNames;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.servlet.ServletAccess;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.ws.rs.ext.Providers;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The parts of the deployed application that a provider uses. The access to servlet requests is null if the runtime has none. */
record RestContext(
        RateLimitGate gate,
        MethodNames names,
        QuotaFields fields,
        RejectionResponses rejections,
        Telemetry.Spans spans,
        @Nullable ServletAccess servlet) {
    /**
     * The look-up of the parts at the first request, because a server can create providers before the deployment has ended. They are not
     * injected, because not every server creates providers as beans.
     */
    static final class Late implements Supplier<RestContext> {
        private final Supplier<@Nullable Providers> providers;
        private volatile @Nullable RestContext found;

        Late(Supplier<@Nullable Providers> providers) {
            this.providers = providers;
        }

        @Override
        public RestContext get() {
            RestContext known = found;
            if (known == null) {
                known = of(CDI.current().select(RateLimitExtension.class).get().application(), providers.get());
                found = known;
            }
            return known;
        }
    }

    private static RestContext of(DeployedApplication application, @Nullable Providers providers) {
        return new RestContext(
                application.gate(),
                application.names(),
                new QuotaFields(
                        QuotaView.Dialect.named(application.weir().settings().headers())),
                new RejectionResponses(name -> application.weir().policies().policy(name), application.responder()),
                application.weir().telemetry().spans(),
                // Without the Servlet API, the class cannot be verified.
                OptionalApi.SERVLET.isVisible() ? ServletAccess.find(providers) : null);
    }
}
