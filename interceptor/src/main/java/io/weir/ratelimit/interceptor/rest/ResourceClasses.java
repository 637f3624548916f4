// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import jakarta.ws.rs.container.DynamicFeature;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.FeatureContext;
import java.lang.System.Logger.Level;

/** A feature that reports resource classes to the deployment. On Payara, only Jersey knows resource classes that are not beans. */
public final class ResourceClasses implements DynamicFeature {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    @Override
    public void configure(ResourceInfo resource, FeatureContext context) {
        try {
            CurrentApplication.extension().addResource(resource.getResourceClass());
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "The resource class is not registered, because there is no CDI container", e);
        }
    }
}
