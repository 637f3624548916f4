// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import jakarta.annotation.Priority;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.core.Feature;
import jakarta.ws.rs.core.FeatureContext;
import jakarta.ws.rs.ext.Provider;

/**
 * The feature that registers {@link TestKitFilter}. Runtimes find it as a service or by its annotation. Of several services with the same
 * priority, RESTEasy loads one.
 */
@Provider
@Priority(Priorities.USER - 1)
public final class TestKitFeature implements Feature {
    /** Creates the feature. */
    public TestKitFeature() {}

    @Override
    public boolean configure(FeatureContext context) {
        if (context.getConfiguration().getRuntimeType() != RuntimeType.SERVER
                || context.getConfiguration().isRegistered(TestKitFilter.class)) {
            return false;
        }
        context.register(TestKitFilter.class);
        return true;
    }
}
