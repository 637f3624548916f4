// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.bootstrap.classloading.QuarkusClassLoader;
import io.quarkus.deployment.IsDevServicesSupportedByLaunchMode;
import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.annotations.BuildSteps;
import io.quarkus.deployment.builditem.CombinedIndexBuildItem;
import io.quarkus.deployment.builditem.DevServicesResultBuildItem;
import io.quarkus.deployment.builditem.DockerStatusBuildItem;
import io.quarkus.deployment.dev.devservices.DevServicesConfig;
import io.quarkus.devservices.common.StartableContainer;
import jakarta.enterprise.inject.Produces;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jboss.jandex.AnnotationInstance;
import org.jboss.jandex.AnnotationTarget;
import org.jboss.jandex.DotName;
import org.jboss.jandex.IndexView;
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
            CombinedIndexBuildItem index,
            BuildProducer<DevServicesResultBuildItem> services) {
        WeirBuildConfig.DevServices settings = config.devservices();
        if (settings.enabled() && needsRedis(index.getIndex()) && docker.isContainerRuntimeAvailable()) {
            services.produce(DevServicesResultBuildItem.<StartableContainer<GenericContainer<?>>>owned()
                    .feature("weir")
                    .serviceName("redis")
                    .serviceConfig(settings.imageName())
                    .startable(() -> redis(settings.imageName(), global))
                    .configProvider(Map.of(ADDRESS, StartableContainer::getConnectionInfo))
                    .build());
        }
    }

    private static boolean needsRedis(IndexView index) {
        return QuarkusClassLoader.isClassPresentAtRuntime(BACKEND)
                && !QuarkusClassLoader.isClassPresentAtRuntime(WeirProcessor.TEST_KIT)
                && !hasBackend(ConfigProvider.getConfig())
                && !hasClient(index);
    }

    /** Tests whether the active profiles configure a Redis, another backend or no limits. A list has the names that the backend reads. */
    static boolean hasBackend(Config config) {
        return Stream.of("", "[0]", ".0", ".[0]").anyMatch(form -> isSet(config, ADDRESS + form))
                || isSet(config, "ratelimit.redis.config")
                || !Set.of("auto", "redisson")
                        .contains(config.getOptionalValue("ratelimit.backend", String.class)
                                .orElse("auto"))
                || !config.getOptionalValue("ratelimit.enabled", Boolean.class).orElse(true);
    }

    /** Tests whether a bean produces a client, which the backend uses if there is no address. */
    static boolean hasClient(IndexView index) {
        return index.getAnnotations(DotName.createSimple(Produces.class)).stream()
                .map(AnnotationInstance::target)
                .map(target -> target.kind() == AnnotationTarget.Kind.METHOD
                        ? target.asMethod().returnType()
                        : target.asField().type())
                .anyMatch(type -> type.name().toString().equals("org.redisson.api.RedissonClient"));
    }

    private static boolean isSet(Config config, String property) {
        return config.getOptionalValue(property, String.class).isPresent();
    }

    private static StartableContainer<GenericContainer<?>> redis(String image, DevServicesConfig global) {
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image)).withExposedPorts(PORT);
        global.timeout().ifPresent(container::withStartupTimeout);
        return new StartableContainer<>(
                container, started -> "redis://" + started.getHost() + ":" + started.getMappedPort(PORT));
    }
}
