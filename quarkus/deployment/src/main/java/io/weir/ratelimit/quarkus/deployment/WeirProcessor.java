// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.arc.deployment.AdditionalBeanBuildItem;
import io.quarkus.arc.deployment.BeanContainerBuildItem;
import io.quarkus.arc.deployment.BuildTimeConditionBuildItem;
import io.quarkus.arc.deployment.ExcludedTypeBuildItem;
import io.quarkus.arc.deployment.SyntheticBeanBuildItem;
import io.quarkus.arc.deployment.SyntheticBeansRuntimeInitBuildItem;
import io.quarkus.arc.deployment.UnremovableBeanBuildItem;
import io.quarkus.bootstrap.classloading.QuarkusClassLoader;
import io.quarkus.deployment.Capabilities;
import io.quarkus.deployment.Capability;
import io.quarkus.deployment.IsTest;
import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.annotations.Consume;
import io.quarkus.deployment.annotations.ExecutionTime;
import io.quarkus.deployment.annotations.Record;
import io.quarkus.deployment.builditem.AdditionalIndexedClassesBuildItem;
import io.quarkus.deployment.builditem.CombinedIndexBuildItem;
import io.quarkus.deployment.builditem.ExecutorBuildItem;
import io.quarkus.deployment.builditem.FeatureBuildItem;
import io.quarkus.deployment.builditem.IndexDependencyBuildItem;
import io.quarkus.deployment.builditem.ServiceStartBuildItem;
import io.quarkus.deployment.builditem.ShutdownContextBuildItem;
import io.quarkus.deployment.metrics.MetricsCapabilityBuildItem;
import io.quarkus.runtime.metrics.MetricsFactory;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.interceptor.cdi.CurrentRequest;
import io.weir.ratelimit.interceptor.cdi.LimitBeans;
import io.weir.ratelimit.interceptor.cdi.RateLimitBeans;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.cdi.RateLimitInterceptor;
import io.weir.ratelimit.quarkus.BeanInterceptor;
import io.weir.ratelimit.quarkus.HealthBeans;
import io.weir.ratelimit.quarkus.MeterBeans;
import io.weir.ratelimit.quarkus.WeirRecorder;
import io.weir.ratelimit.runtime.HttpResource;
import io.weir.ratelimit.runtime.Plugin;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RejectionResponder;
import io.weir.ratelimit.spi.TierResolver;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import org.jboss.jandex.ClassInfo;
import org.jboss.jandex.DotName;

/** The build steps for beans and for the start. */
class WeirProcessor {
    private static final String GROUP = "io.weir";

    /** The types that only other containers use: they run portable extensions, or have the Servlet API. */
    private static final List<String> OF_OTHER_CONTAINERS = List.of(
            RateLimitBeans.class.getName(),
            RateLimitInterceptor.class.getName(),
            "io.weir.ratelimit.interceptor.servlet.ServletAccess",
            "io.weir.ratelimit.interceptor.web.StartListener");

    /** The types of an indexed jar that Quarkus REST would take as a part of the application, also if they are no beans. */
    private static final List<String> OF_OTHER_RUNTIMES = List.of(
            "io.weir.ratelimit.interceptor.rest.ScannedFeature",
            "io.weir.ratelimit.test.InProcessRest$Listed",
            "io.weir.ratelimit.test.TestKitFeature");

    /** The beans of the test kit. */
    static final String TEST_KIT = "io.weir.ratelimit.test.QuarkusTestKit";

    @BuildStep
    FeatureBuildItem feature() {
        return new FeatureBuildItem("weir");
    }

    /** Without an index of the API, the container does not know that the annotation is an interceptor binding. */
    @BuildStep
    IndexDependencyBuildItem api() {
        return new IndexDependencyBuildItem(GROUP, "weir-api");
    }

    @BuildStep
    void exclude(BuildProducer<ExcludedTypeBuildItem> excluded) {
        OF_OTHER_CONTAINERS.forEach(type -> excluded.produce(new ExcludedTypeBuildItem(type)));
    }

    @BuildStep
    void leaveOut(CombinedIndexBuildItem index, BuildProducer<BuildTimeConditionBuildItem> conditions) {
        for (String name : OF_OTHER_RUNTIMES) {
            ClassInfo type = index.getIndex().getClassByName(name);
            if (type != null) {
                conditions.produce(new BuildTimeConditionBuildItem(type, false));
            }
        }
    }

    @BuildStep
    AdditionalBeanBuildItem beans() {
        return AdditionalBeanBuildItem.builder()
                .setUnremovable()
                .addBeanClasses(LimitBeans.class, BeanInterceptor.class)
                .build();
    }

    /** Keeps the beans that the limiter looks up, and that nothing injects. */
    @BuildStep
    UnremovableBeanBuildItem keep() {
        return UnremovableBeanBuildItem.beanTypes(
                CurrentRequest.class,
                DecisionListener.class,
                EngineEnvironment.class,
                HttpResource.class,
                KeyResolver.class,
                CallerQuotas.Logins.class,
                Plugin.class,
                PolicySource.class,
                RateLimitBackend.class,
                RejectionResponder.class,
                Plugin.Task.class,
                TierResolver.class);
    }

    /** The limits of a test use the clock and the backend of the test kit. Those of another application never do. */
    @BuildStep(onlyIf = IsTest.class)
    void testKit(BuildProducer<AdditionalBeanBuildItem> beans) {
        if (QuarkusClassLoader.isClassPresentAtRuntime(TEST_KIT)) {
            beans.produce(AdditionalBeanBuildItem.builder()
                    .setUnremovable()
                    .setDefaultScope(DotName.createSimple(Singleton.class))
                    .addBeanClass(TEST_KIT)
                    .build());
        }
    }

    @BuildStep
    void health(Capabilities capabilities, BuildProducer<AdditionalBeanBuildItem> beans) {
        if (capabilities.isPresent(Capability.SMALLRYE_HEALTH)) {
            beans.produce(AdditionalBeanBuildItem.unremovableOf(HealthBeans.class));
        }
    }

    @BuildStep
    void metrics(Optional<MetricsCapabilityBuildItem> metrics, BuildProducer<AdditionalBeanBuildItem> beans) {
        if (metrics.isPresent() && metrics.get().metricsSupported(MetricsFactory.MICROMETER)) {
            beans.produce(AdditionalBeanBuildItem.unremovableOf(MeterBeans.class));
        }
    }

    /** The class is named, because it cannot be loaded without the API of OpenAPI. */
    @BuildStep
    void openApi(Capabilities capabilities, BuildProducer<AdditionalIndexedClassesBuildItem> indexed) {
        if (capabilities.isPresent(Capability.SMALLRYE_OPENAPI)) {
            indexed.produce(new AdditionalIndexedClassesBuildItem("io.weir.ratelimit.quarkus.OpenApiLimits"));
        }
    }

    /** The class is named, because it cannot be loaded without gRPC. */
    @BuildStep
    void grpc(
            Capabilities capabilities,
            BuildProducer<AdditionalIndexedClassesBuildItem> indexed,
            BuildProducer<AdditionalBeanBuildItem> beans) {
        if (capabilities.isPresent(Capability.GRPC)) {
            String rejections = "io.weir.ratelimit.quarkus.GrpcRejections";
            indexed.produce(new AdditionalIndexedClassesBuildItem(rejections));
            beans.produce(AdditionalBeanBuildItem.unremovableOf(rejections));
        }
    }

    @BuildStep
    @Record(ExecutionTime.RUNTIME_INIT)
    SyntheticBeanBuildItem extension(WeirRecorder recorder) {
        return SyntheticBeanBuildItem.configure(RateLimitExtension.class)
                .scope(Singleton.class)
                .unremovable()
                .supplier(recorder.extension())
                .setRuntimeInit()
                .done();
    }

    /** Starts the limits after the beans and before HTTP. */
    @BuildStep
    @Record(ExecutionTime.RUNTIME_INIT)
    @Consume(SyntheticBeansRuntimeInitBuildItem.class)
    ServiceStartBuildItem start(
            WeirRecorder recorder,
            LimitedBeansBuildItem limited,
            ExecutorBuildItem executor,
            BeanContainerBuildItem container,
            ShutdownContextBuildItem shutdown) {
        recorder.deploy(
                limited.classes(), limited.usesLimiter(), executor.getExecutorProxy(), container.getValue(), shutdown);
        return new ServiceStartBuildItem("weir");
    }
}
