// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.listed;

import io.weir.ratelimit.interceptor.rest.RateLimitFeature;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Map;
import java.util.Set;

/** An application that lists the feature of the library. */
@ApplicationPath("with")
public class ListedApplication extends Application {
    @Override
    public Set<Class<?>> getClasses() {
        return Set.of(ListedResource.class, RateLimitFeature.class);
    }

    @Override
    public Map<String, Object> getProperties() {
        return Map.of("jakarta.ws.rs.loadServices", false);
    }
}
