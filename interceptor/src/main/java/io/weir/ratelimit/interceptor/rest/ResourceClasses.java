// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import jakarta.ws.rs.container.DynamicFeature;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.FeatureContext;
import java.lang.System.Logger.Level;

/** Reports the resource classes to the deployment: on Payara, classes without a scope are not beans, and only Jersey knows them. */
public final class ResourceClasses implements DynamicFeature {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    @Override
    public void configure(ResourceInfo resource, FeatureContext context) {
        try {
            CurrentApplication.extension().addResource(resource.getResourceClass());
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "A resource class stays unknown, because there is no CDI container", e);
        }
    }
}
