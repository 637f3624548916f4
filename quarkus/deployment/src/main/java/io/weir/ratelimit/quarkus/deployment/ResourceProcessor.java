// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.annotations.ExecutionTime;
import io.quarkus.deployment.annotations.Record;
import io.quarkus.deployment.builditem.CombinedIndexBuildItem;
import io.quarkus.deployment.builditem.ServiceStartBuildItem;
import io.quarkus.vertx.http.deployment.NonApplicationRootPathBuildItem;
import io.quarkus.vertx.http.deployment.RouteBuildItem;
import io.quarkus.vertx.http.deployment.VertxWebRouterBuildItem;
import io.weir.ratelimit.quarkus.WeirRecorder;

/** The build steps for the resources that Weir itself serves. */
class ResourceProcessor {
    private static final String CONSOLE = "io.weir.ratelimit.console.ConsoleResource";

    /** Adds the console beside the health checks, or to the management interface if there is one. */
    @BuildStep
    @Record(ExecutionTime.RUNTIME_INIT)
    void console(
            WeirRecorder recorder,
            CombinedIndexBuildItem index,
            NonApplicationRootPathBuildItem paths,
            BuildProducer<RouteBuildItem> routes) {
        if (index.getIndex().getClassByName(CONSOLE) != null) {
            routes.produce(paths.routeBuilder()
                    .management()
                    .route("ratelimit/*")
                    .handler(recorder.console())
                    .build());
        }
    }

    @BuildStep
    @Record(ExecutionTime.RUNTIME_INIT)
    ServiceStartBuildItem quotas(WeirRecorder recorder, VertxWebRouterBuildItem router) {
        recorder.quotas(router.getHttpRouter());
        return new ServiceStartBuildItem("weir-quotas");
    }
}
