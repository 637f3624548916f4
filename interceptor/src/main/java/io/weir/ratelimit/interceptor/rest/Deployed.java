// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.cdi.RateLimitRuntime;
import jakarta.enterprise.inject.spi.CDI;

/** What providers need of the deployment. Looked up, not injected: a server makes providers as beans or otherwise, as it likes. */
record Deployed(RateLimitRuntime runtime, QuotaFields fields, Refusals refusals) {
    /** What the application at hand has deployed. */
    static Deployed find() {
        RateLimitRuntime runtime =
                CDI.current().select(RateLimitExtension.class).get().runtime();
        return new Deployed(
                runtime,
                new QuotaFields(HeaderDialect.named(runtime.headers())),
                new Refusals(runtime::policy, new OwnBodies(runtime.responder())));
    }
}
