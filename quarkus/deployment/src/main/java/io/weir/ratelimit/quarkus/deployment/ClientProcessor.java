// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.arc.deployment.AdditionalBeanBuildItem;
import io.quarkus.arc.deployment.SyntheticBeanBuildItem;
import io.quarkus.deployment.Capabilities;
import io.quarkus.deployment.Capability;
import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.annotations.ExecutionTime;
import io.quarkus.deployment.annotations.Record;
import io.quarkus.deployment.builditem.CombinedIndexBuildItem;
import io.weir.ratelimit.quarkus.WeirRecorder;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.TreeMap;
import org.jboss.jandex.AnnotationInstance;
import org.jboss.jandex.DotName;
import org.jboss.jandex.IndexView;

/** The build steps for outgoing calls. Its types are named, because an application need not have the module that limits them. */
class ClientProcessor {
    private static final DotName OUTGOING = DotName.createSimple("io.weir.ratelimit.client.OutgoingRateLimit");
    private static final DotName CLIENTS = DotName.createSimple("io.weir.ratelimit.client.outgoing.AnnotatedClients");
    private static final String BEANS = "io.weir.ratelimit.quarkus.ClientBeans";

    @BuildStep
    void suspension(
            CombinedIndexBuildItem index, Capabilities capabilities, BuildProducer<AdditionalBeanBuildItem> beans) {
        if (limits(index.getIndex(), capabilities)) {
            beans.produce(AdditionalBeanBuildItem.unremovableOf(BEANS));
        }
    }

    @BuildStep
    @Record(ExecutionTime.RUNTIME_INIT)
    void annotated(
            WeirRecorder recorder,
            CombinedIndexBuildItem index,
            Capabilities capabilities,
            BuildProducer<SyntheticBeanBuildItem> beans) {
        if (limits(index.getIndex(), capabilities)) {
            beans.produce(SyntheticBeanBuildItem.configure(CLIENTS)
                    .scope(Singleton.class)
                    .unremovable()
                    .supplier(recorder.annotatedClients(types(index.getIndex())))
                    .setRuntimeInit()
                    .done());
        }
    }

    private static boolean limits(IndexView index, Capabilities capabilities) {
        return index.getClassByName(OUTGOING) != null && capabilities.isPresent(Capability.REST_CLIENT_REACTIVE);
    }

    /** Returns the first annotated type of each client. */
    private static Map<String, String> types(IndexView index) {
        Map<String, String> types = new TreeMap<>();
        for (AnnotationInstance use : index.getAnnotations(OUTGOING)) {
            types.merge(
                    use.value().asString(),
                    use.target().asClass().name().toString(),
                    (one, other) -> one.compareTo(other) < 0 ? one : other);
        }
        return types;
    }
}
