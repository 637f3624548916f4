// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import jakarta.ws.rs.container.DynamicFeature;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.FeatureContext;

/** A feature that reports resource classes to the deployment. On Payara, only Jersey knows resource classes that are not beans. */
public final class ResourceClasses implements DynamicFeature {
    @Override
    public void configure(ResourceInfo resource, FeatureContext context) {
        try {
            CurrentApplication.extension().addResource(resource.getResourceClass());
        } catch (IllegalStateException e) {
            MessageCatalog.debug("The resource class is not registered, because there is no CDI container", e);
        }
    }
}
