// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.listed;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Map;
import java.util.Set;

/** An application that does not list the feature of the library, so that no limit applies to it. */
@ApplicationPath("without")
public class BareApplication extends Application {
    @Override
    public Set<Class<?>> getClasses() {
        return Set.of(ListedResource.class);
    }

    @Override
    public Map<String, Object> getProperties() {
        return Map.of("jakarta.ws.rs.loadServices", false);
    }
}
