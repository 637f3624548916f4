// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.annotations.ExecutionTime;
import io.quarkus.deployment.annotations.Record;
import io.quarkus.deployment.builditem.CombinedIndexBuildItem;
import io.quarkus.deployment.builditem.LaunchModeBuildItem;
import io.quarkus.deployment.builditem.ServiceStartBuildItem;
import io.quarkus.vertx.http.deployment.NonApplicationRootPathBuildItem;
import io.quarkus.vertx.http.deployment.RouteBuildItem;
import io.quarkus.vertx.http.deployment.VertxWebRouterBuildItem;
import io.weir.ratelimit.quarkus.WeirRecorder;

/** The build steps for the resources that Weir itself serves. */
class ResourceProcessor {
    static final String CONSOLE = "io.weir.ratelimit.console.ConsoleResource";

    /**
     * Adds the console beside the health checks, or to the management interface if there is one. In development mode, a console without
     * configuration is open, and then only the Dev UI has it.
     */
    @BuildStep
    @Record(ExecutionTime.RUNTIME_INIT)
    void console(
            WeirRecorder recorder,
            CombinedIndexBuildItem index,
            NonApplicationRootPathBuildItem paths,
            LaunchModeBuildItem mode,
            BuildProducer<RouteBuildItem> routes) {
        boolean ofDevUi = !mode.isNotLocalDevModeType() && !DevUiProcessor.isConsoleConfigured();
        if (!ofDevUi && index.getIndex().getClassByName(CONSOLE) != null) {
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
