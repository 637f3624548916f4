// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.builditem.nativeimage.NativeImageResourcePatternsBuildItem;
import io.quarkus.deployment.builditem.nativeimage.ReflectiveClassBuildItem;
import io.quarkus.deployment.builditem.nativeimage.RuntimeInitializedClassBuildItem;
import io.quarkus.deployment.builditem.nativeimage.ServiceProviderBuildItem;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.snapshot.TypeHierarchy;
import io.weir.ratelimit.interceptor.cdi.DeployedApplication;
import io.weir.ratelimit.runtime.ApplicationLoader;
import io.weir.ratelimit.runtime.Plugin;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The build steps for a native image. They have no effect on other images. */
class NativeProcessor {
    /** The classes whose static state belongs to one process: its identity, and caches by time. */
    private static final List<String> STATE_OF_PROCESS = List.of(
            "io.weir.ratelimit.core.instance.InstanceName",
            "io.weir.ratelimit.core.limit.CalendarBounds",
            "io.weir.ratelimit.core.limit.ConcurrencyState",
            "io.weir.ratelimit.redisson.script.SlotCodec");

    /** The APIs whose presence the limiter tests by these names. */
    private static final List<String> OPTIONAL_APIS = List.of(
            "io.opentelemetry.api.trace.Span",
            "jakarta.security.enterprise.SecurityContext",
            "jakarta.security.enterprise.identitystore.openid.OpenIdContext",
            "jakarta.servlet.http.HttpServletRequest",
            "jakarta.websocket.Session",
            "org.eclipse.microprofile.config.ConfigProvider",
            "org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException",
            "org.eclipse.microprofile.health.HealthCheck",
            "org.eclipse.microprofile.jwt.JsonWebToken",
            "org.eclipse.microprofile.metrics.MetricRegistry");

    @BuildStep
    NativeImageResourcePatternsBuildItem resources() {
        return NativeImageResourcePatternsBuildItem.builder()
                .includeGlobs(
                        "META-INF/weir/**",
                        "META-INF/maven/io.weir/weir-operations/pom.properties",
                        "io/weir/ratelimit/console/page/**")
                .build();
    }

    @BuildStep
    void atRunTime(BuildProducer<RuntimeInitializedClassBuildItem> classes) {
        STATE_OF_PROCESS.forEach(name -> {
            if (isPresent(name)) {
                classes.produce(new RuntimeInitializedClassBuildItem(name));
            }
        });
    }

    private static boolean isPresent(String type) {
        return ApplicationLoader.finds(Thread.currentThread().getContextClassLoader(), type);
    }

    @BuildStep
    ServiceProviderBuildItem plugins() {
        return ServiceProviderBuildItem.allProvidersFromClassPath(Plugin.class.getName());
    }

    @BuildStep
    ReflectiveClassBuildItem optionalApis() {
        return ReflectiveClassBuildItem.builder(OPTIONAL_APIS.stream()
                        .filter(NativeProcessor::isPresent)
                        .toArray(String[]::new))
                .constructors(false)
                .reason("the presence of optional APIs")
                .build();
    }

    /** The methods of limited classes and of their supertypes are read by reflection, and those of arguments, which can be keys. */
    @BuildStep
    ReflectiveClassBuildItem limited(LimitedBeansBuildItem limited) {
        Set<Class<?>> beans = AnnotationProcessor.load(limited.classes());
        Stream<Class<?>> types = beans.stream().flatMap(bean -> TypeHierarchy.of(bean).stream());
        Stream<Class<?>> arguments = DeployedApplication.methods(beans, new Problems()).stream()
                .flatMap(each -> Stream.of(each.method().getParameterTypes()))
                .filter(type -> !type.isPrimitive());
        return ReflectiveClassBuildItem.builder(
                        Stream.concat(types, arguments).distinct().toArray(Class<?>[]::new))
                .methods()
                .fields()
                .reason("the annotations of limited methods, and the keys by arguments")
                .build();
    }
}
