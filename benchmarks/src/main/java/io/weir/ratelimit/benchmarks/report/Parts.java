// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.util.List;

/** All parts of the report, in the order of a run. */
final class Parts {
    private static final String PERFORMANCE = "docs/reference/performance.md";
    private static final String COSTS = "docs/reference/costs.md";
    private static final String BENCHMARKS = "io.weir.ratelimit.benchmarks.";

    static final List<Part> ALL = List.of(
            Part.of(
                    "local",
                    PERFORMANCE,
                    BENCHMARKS + "LocalDecisionCost none 1",
                    BENCHMARKS + "LocalDecisionCost none 10000",
                    BENCHMARKS + "LocalDecisionCost otel 1",
                    BENCHMARKS + "LocalDecisionCost mp 1"),
            Part.of("request", PERFORMANCE, BENCHMARKS + "RequestCost"),
            Part.of("quarkus", PERFORMANCE, BENCHMARKS + "RequestCost quarkus"),
            Part.of("comparison", PERFORMANCE, BENCHMARKS + "Comparison quick"),
            Part.of("growth", PERFORMANCE, BENCHMARKS + "Growth"),
            Part.of("memory", COSTS, BENCHMARKS + "MemoryPerKey"),
            Part.of("log", COSTS, "io.weir.ratelimit.redisson.SlidingLogCost"),
            Part.of("concurrency", COSTS, BENCHMARKS + "ConcurrencyCost redis", BENCHMARKS + "ConcurrencyCost local"),
            Part.of("operations", COSTS, BENCHMARKS + "comparison.OperationCost"),
            Part.of("observed", COSTS, BENCHMARKS + "JmhTable ObservedDecisionBenchmark observed"),
            Part.of("rejections", COSTS, BENCHMARKS + "JmhTable RejectionCacheBenchmark limits"),
            Part.of("threads", COSTS, BENCHMARKS + "JmhTable LocalDecisionBenchmark.(weir|bucket4j)$ callers 8"),
            Part.of("changes", COSTS, BENCHMARKS + "ChangeTimes 500"),
            Part.of("reports", COSTS, "io.weir.ratelimit.console.ReportCost"),
            Part.of("top-keys", "docs/reference/observability.md", BENCHMARKS + "TopKeysCost"),
            Part.of("capacity", "docs/operations/capacity.md", BENCHMARKS + "Capacity"),
            Part.ofMaven(
                    "envoy",
                    "docs/how-to/envoy.md",
                    "mvn -B -ntp test -pl envoy -Dtest=ServerLoad -Dsurefire.failIfNoSpecifiedTests=false -Dweir.test.jvm=-Xmx512m",
                    "envoy/target/server-load.md"),
            Part.ofMaven(
                    "failures",
                    "docs/reference/failures.md",
                    "mvn -B -ntp test -Pfull -pl redisson-backend -Dgroups=fault -Dweir.test.forks=1",
                    "redisson-backend/target/failures.md"));

    private Parts() {}
}
