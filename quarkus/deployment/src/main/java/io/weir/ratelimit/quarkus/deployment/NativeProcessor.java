// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.builditem.nativeimage.NativeImageResourcePatternsBuildItem;
import io.quarkus.deployment.builditem.nativeimage.ReflectiveClassBuildItem;
import io.quarkus.deployment.builditem.nativeimage.RuntimeInitializedClassBuildItem;
import io.quarkus.deployment.builditem.nativeimage.ServiceProviderBuildItem;
import io.weir.ratelimit.runtime.Plugin;
import java.util.List;

/** The build steps for a native image. They have no effect on other images. */
class NativeProcessor {
    /** The classes whose static state belongs to one process: its identity, and caches by time. */
    private static final List<String> STATE_OF_PROCESS = List.of(
            "io.weir.ratelimit.core.instance.InstanceName",
            "io.weir.ratelimit.core.limit.CalendarBounds",
            "io.weir.ratelimit.core.limit.ConcurrencyState",
            "io.weir.ratelimit.redisson.script.SlotCodec");

    @BuildStep
    NativeImageResourcePatternsBuildItem resources() {
        return NativeImageResourcePatternsBuildItem.builder()
                .includeGlobs("META-INF/weir/**", "io/weir/ratelimit/console/page/**")
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
        try {
            Class.forName(type, false, Thread.currentThread().getContextClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    @BuildStep
    ServiceProviderBuildItem plugins() {
        return ServiceProviderBuildItem.allProvidersFromClassPath(Plugin.class.getName());
    }

    /** The methods of limited classes are read by reflection, with their annotations. */
    @BuildStep
    ReflectiveClassBuildItem limited(LimitedBeansBuildItem limited) {
        return ReflectiveClassBuildItem.builder(limited.classes().toArray(String[]::new))
                .methods()
                .fields()
                .reason("the annotations of limited methods")
                .build();
    }
}
