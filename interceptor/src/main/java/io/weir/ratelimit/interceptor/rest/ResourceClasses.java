// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import jakarta.ws.rs.container.DynamicFeature;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.FeatureContext;
import java.lang.System.Logger.Level;

/** Shows the resource classes to the deployment: on Payara those without a scope are no beans, and only Jersey knows them. */
public final class ResourceClasses implements DynamicFeature {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    @Override
    public void configure(ResourceInfo resource, FeatureContext context) {
        try {
            CurrentApplication.extension().resource(resource.getResourceClass());
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "A resource class stays unknown: there is no CDI container", e);
        }
    }
}
