// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import java.util.Set;

/** An application that lists its classes, without those of Weir. */
@ApplicationPath("api")
public class TestApplication extends Application {
    @Override
    public Set<Class<?>> getClasses() {
        return Set.of(
                BeanResource.class,
                ChangeResource.class,
                ChargeResource.class,
                ClassLevelResource.class,
                DescribedResource.class,
                EntityResource.class,
                InheritingResource.class,
                KeyResource.class,
                LimiterResource.class,
                RecordingReader.class,
                StereotypedResource.class);
    }
}
