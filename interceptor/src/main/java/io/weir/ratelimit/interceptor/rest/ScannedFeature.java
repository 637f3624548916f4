// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import jakarta.ws.rs.ConstrainedTo;
import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.core.Feature;
import jakarta.ws.rs.core.FeatureContext;
import jakarta.ws.rs.ext.Provider;

/**
 * The same feature once more, found by its annotation: RESTEasy asks for no service where the application has no {@code
 * Application}. A class of its own, since one that is found both ways is worth a warning to RESTEasy.
 */
@Provider
@ConstrainedTo(RuntimeType.SERVER)
public final class ScannedFeature implements Feature {
    @Override
    public boolean configure(FeatureContext context) {
        return new RateLimitFeature().configure(context);
    }
}
