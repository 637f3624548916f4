// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.runtime.annotations.ConfigPhase;
import io.quarkus.runtime.annotations.ConfigRoot;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;

/** The configuration of the build. The properties {@code ratelimit.*} are those of the application. */
@ConfigRoot(phase = ConfigPhase.BUILD_TIME)
@ConfigMapping(prefix = "quarkus.weir")
interface WeirBuildConfig {
    /** The services for development and tests. */
    DevServices devservices();

    /** The services for development and tests. */
    interface DevServices {
        /** Whether a Redis starts if none is configured. */
        @WithDefault("true")
        boolean enabled();

        /** The image of the Redis. */
        @WithDefault("docker.io/library/redis:7.2")
        String imageName();
    }
}
