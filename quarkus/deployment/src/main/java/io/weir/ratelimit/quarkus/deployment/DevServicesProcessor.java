// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.bootstrap.classloading.QuarkusClassLoader;
import io.quarkus.deployment.IsDevServicesSupportedByLaunchMode;
import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.annotations.BuildSteps;
import io.quarkus.deployment.builditem.DevServicesResultBuildItem;
import io.quarkus.deployment.builditem.DockerStatusBuildItem;
import io.quarkus.deployment.dev.devservices.DevServicesConfig;
import io.quarkus.devservices.common.StartableContainer;
import io.quarkus.runtime.configuration.ConfigUtils;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** The Redis of an application in development and in tests that configures none. */
@BuildSteps(onlyIf = {IsDevServicesSupportedByLaunchMode.class, DevServicesConfig.Enabled.class})
class DevServicesProcessor {
    private static final String BACKEND = "io.weir.ratelimit.redisson.RedissonBackend";
    private static final String ADDRESS = "ratelimit.redis.address";
    private static final int PORT = 6379;

    @BuildStep
    void redis(
            WeirBuildConfig config,
            DevServicesConfig global,
            DockerStatusBuildItem docker,
            BuildProducer<DevServicesResultBuildItem> services) {
        WeirBuildConfig.DevServices settings = config.devservices();
        if (settings.enabled() && needsRedis() && docker.isContainerRuntimeAvailable()) {
            services.produce(DevServicesResultBuildItem.<StartableContainer<GenericContainer<?>>>owned()
                    .feature("weir")
                    .serviceName("redis")
                    .serviceConfig(settings.imageName())
                    .startable(() -> redis(settings.imageName(), global))
                    .configProvider(Map.of(ADDRESS, StartableContainer::getConnectionInfo))
                    .build());
        }
    }

    private static boolean needsRedis() {
        Config config = ConfigProvider.getConfig();
        return QuarkusClassLoader.isClassPresentAtRuntime(BACKEND)
                && !QuarkusClassLoader.isClassPresentAtRuntime(WeirProcessor.TEST_KIT)
                && Stream.of("", "[0]", ".0", ".[0]").noneMatch(form -> ConfigUtils.isPropertyNonEmpty(ADDRESS + form))
                && !ConfigUtils.isPropertyNonEmpty("ratelimit.redis.config")
                && Set.of("auto", "redisson")
                        .contains(config.getOptionalValue("ratelimit.backend", String.class)
                                .orElse("auto"))
                && config.getOptionalValue("ratelimit.enabled", Boolean.class).orElse(true);
    }

    private static StartableContainer<GenericContainer<?>> redis(String image, DevServicesConfig global) {
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image)).withExposedPorts(PORT);
        global.timeout().ifPresent(container::withStartupTimeout);
        return new StartableContainer<>(
                container, started -> "redis://" + started.getHost() + ":" + started.getMappedPort(PORT));
    }
}
