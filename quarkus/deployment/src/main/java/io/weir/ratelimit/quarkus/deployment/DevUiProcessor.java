// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.deployment;

import io.quarkus.deployment.IsLocalDevelopment;
import io.quarkus.deployment.annotations.BuildProducer;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.annotations.BuildSteps;
import io.quarkus.deployment.annotations.ExecutionTime;
import io.quarkus.deployment.annotations.Record;
import io.quarkus.deployment.builditem.CombinedIndexBuildItem;
import io.quarkus.deployment.builditem.RunTimeConfigurationDefaultBuildItem;
import io.quarkus.deployment.logging.LogCleanupFilterBuildItem;
import io.quarkus.devui.spi.JsonRPCProvidersBuildItem;
import io.quarkus.devui.spi.page.CardPageBuildItem;
import io.quarkus.devui.spi.page.Page;
import io.quarkus.runtime.configuration.ConfigUtils;
import io.quarkus.vertx.http.deployment.NonApplicationRootPathBuildItem;
import io.quarkus.vertx.http.deployment.RouteBuildItem;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.MethodLimits.InlinePolicy;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.interceptor.cdi.DeployedApplication;
import io.weir.ratelimit.quarkus.DevUiLabels;
import io.weir.ratelimit.quarkus.WeirRecorder;
import java.util.List;
import java.util.stream.Stream;
import org.jboss.jandex.IndexView;

/** The card of the Dev UI, with the console. */
@BuildSteps(onlyIf = IsLocalDevelopment.class)
class DevUiProcessor {
    /** Below the Dev UI, so that its filters apply: they accept local hosts only. */
    private static final String CONSOLE = "dev-ui/ratelimit";

    private static final int AFTER_FILTERS = -1;
    private static final String METHODS = "limitedMethods";

    /**
     * A row of the table of limited methods. The Dev UI reads it as JSON.
     *
     * @param limit the limit of the annotation; empty if only the configuration defines limits
     * @param key the key of the annotation, or empty
     */
    record Row(String method, String policies, String limit, String key) {
        private static Row of(AnnotatedMethods.Limited limited) {
            return new Row(
                    limited.limits().name().text(),
                    String.join(", ", limited.limits().policies()),
                    limited.limits().inlinePolicy().map(InlinePolicy::limit).orElse(""),
                    limited.limits().inlinePolicy().map(InlinePolicy::key).orElse(""));
        }
    }

    @BuildStep
    CardPageBuildItem card(
            LimitedBeansBuildItem limited, CombinedIndexBuildItem index, NonApplicationRootPathBuildItem paths) {
        List<Row> rows =
                DeployedApplication.methods(AnnotationProcessor.load(limited.classes()), new Problems()).stream()
                        .map(Row::of)
                        .toList();
        CardPageBuildItem card = new CardPageBuildItem();
        card.addBuildTimeData(METHODS, rows, "The methods with a limit by an annotation");
        card.addPage(Page.tableDataPageBuilder("Limited methods")
                .icon("font-awesome-solid:gauge")
                .staticLabel(Integer.toString(rows.size()))
                .showColumn("method")
                .showColumn("policies")
                .showColumn("limit")
                .showColumn("key")
                .buildTimeDataKey(METHODS));
        if (hasConsole(index.getIndex())) {
            card.addPage(Page.externalPageBuilder("Policies and decisions")
                    .icon("font-awesome-solid:table-list")
                    .dynamicLabelJsonRPCMethodName("policies")
                    .url(paths.resolvePath(CONSOLE) + "/")
                    .isHtmlContent());
        }
        return card;
    }

    private static boolean hasConsole(IndexView index) {
        return index.getClassByName(ResourceProcessor.CONSOLE) != null;
    }

    @BuildStep
    JsonRPCProvidersBuildItem labels() {
        return new JsonRPCProvidersBuildItem(DevUiLabels.class);
    }

    @BuildStep
    @Record(ExecutionTime.RUNTIME_INIT)
    void console(
            WeirRecorder recorder,
            CombinedIndexBuildItem index,
            NonApplicationRootPathBuildItem paths,
            BuildProducer<RouteBuildItem> routes) {
        if (hasConsole(index.getIndex())) {
            routes.produce(paths.routeBuilder()
                    .orderedRoute(CONSOLE + "/*", AFTER_FILTERS)
                    .handler(recorder.framedConsole())
                    .build());
        }
    }

    /** Opens the console of an application that does not configure it. It then has no other route than that of the Dev UI. */
    @BuildStep
    void open(
            CombinedIndexBuildItem index,
            BuildProducer<RunTimeConfigurationDefaultBuildItem> defaults,
            BuildProducer<LogCleanupFilterBuildItem> filters) {
        if (hasConsole(index.getIndex()) && !isConsoleConfigured()) {
            defaults.produce(new RunTimeConfigurationDefaultBuildItem("ratelimit.console.enabled", "true"));
            defaults.produce(new RunTimeConfigurationDefaultBuildItem("ratelimit.console.open", "true"));
            filters.produce(new LogCleanupFilterBuildItem("io.weir.ratelimit", "WEIR-013"));
        }
    }

    static boolean isConsoleConfigured() {
        return Stream.of("enabled", "role", "open")
                .anyMatch(name -> ConfigUtils.isPropertyPresent("ratelimit.console." + name));
    }
}
