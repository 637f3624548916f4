// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.cdi.DeployedApplication;
import io.weir.ratelimit.interceptor.cdi.MethodNames;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.servlet.RequestProperties;
import io.weir.ratelimit.interceptor.servlet.ServletAccess;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.ext.Providers;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the deployed application that a provider uses. They are looked up at the first request, because a server can create
 * providers before the deployment has ended. They are not injected, because not every server creates providers as beans.
 */
final class RestContext {
    private final Supplier<@Nullable Providers> providers;
    private volatile @Nullable Parts parts;

    private record Parts(
            RateLimitGate gate,
            MethodNames names,
            QuotaFields fields,
            RejectionResponses rejections,
            Telemetry.Spans spans,
            @Nullable ServletAccess servlet) {
        private static Parts of(DeployedApplication application, @Nullable Providers providers) {
            return new Parts(
                    application.gate(),
                    application.names(),
                    new QuotaFields(QuotaView.Dialect.named(application.weir().settings().headers())),
                    new RejectionResponses(application::policy, new CustomBodies(application.responder())),
                    application.weir().telemetry().spans(),
                    // Without the Servlet API, the class cannot be verified.
                    OptionalApi.SERVLET.isVisible() ? ServletAccess.find(providers) : null);
        }
    }

    /** Creates the context of a provider that does not use the servlet request. */
    RestContext() {
        this(() -> null);
    }

    /** Creates the context of a provider with the providers of its runtime. */
    RestContext(Supplier<@Nullable Providers> providers) {
        this.providers = providers;
    }

    private Parts parts() {
        Parts known = parts;
        if (known == null) {
            known = Parts.of(
                    CDI.current().select(RateLimitExtension.class).get().application(), providers.get());
            parts = known;
        }
        return known;
    }

    RateLimitGate gate() {
        return parts().gate;
    }

    MethodNames names() {
        return parts().names;
    }

    QuotaFields fields() {
        return parts().fields;
    }

    RejectionResponses rejections() {
        return parts().rejections;
    }

    /** Returns the access to servlet requests, null if the runtime has none. */
    @Nullable
    ServletAccess servlet() {
        return parts().servlet;
    }

    /** Aborts a rejected request, and requests late span attributes for an allowed one. */
    void answer(Entry entry, ContainerRequestContext request, ApplicationMappers mappers) {
        if (!entry.decision().allowed()) {
            request.abortWith(rejections().response(entry, request.getHeaders(), mappers));
        } else if (entry.isWaiting() || (entry.isDecided() && !parts().spans.hasCurrentSpan())) {
            request.setProperty(RequestProperties.PENDING_SPAN, parts().spans);
        }
    }
}
