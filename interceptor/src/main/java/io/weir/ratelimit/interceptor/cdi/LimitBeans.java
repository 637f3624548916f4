// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.RequestCharges;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.runtime.HostedWeir;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;

/** The beans that an application can inject. */
@Dependent
public class LimitBeans {
    @Produces
    @ApplicationScoped
    public RateLimiter limiter(RateLimitExtension extension) {
        return extension.application().weir().limiter();
    }

    @Produces
    @ApplicationScoped
    public RequestCharges charges(RateLimitExtension extension) {
        return extension.application().gate().charges();
    }

    /** Produces the limiter of this application, for plug-ins. */
    @Produces
    @Dependent
    public HostedWeir weir(RateLimitExtension extension) {
        return extension.application().weir();
    }

    @Produces
    @Dependent
    public CallerOperations callers(RateLimitExtension extension) {
        return extension.application().weir().callers();
    }

    /** Produces the limit of logins on paths of Weir. */
    @Produces
    @Dependent
    public CallerQuotas.Logins logins(RateLimitExtension extension) {
        return extension.application().weir().quotas().logins();
    }
}
