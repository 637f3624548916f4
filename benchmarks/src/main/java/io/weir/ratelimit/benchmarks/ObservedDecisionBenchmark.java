// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.CallContext;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The time of a decision with the local backend and telemetry. The difference to {@code off} is the cost of telemetry. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(3)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ObservedDecisionBenchmark {
    /** The telemetry: none, MicroProfile Metrics by SmallRye, or OpenTelemetry metrics. */
    @Param({"off", "mp", "otel"})
    public String observed = "off";

    private final Tracer tracer = SdkTracerProvider.builder().build().get("benchmark");
    private final CallContext call = new LocalEngines.AddressCall("10.1.2.3");
    private final Binding binding = LocalEngines.binding("ip");
    private RateLimitEngine engine = LocalEngines.engine(List.of());

    /** Creates the listeners as a deployment does. */
    @Setup
    public void prepare() {
        engine = LocalEngines.engine(observed.equals("off") ? List.of() : DeployedListeners.of(observed));
    }

    /** Decides a call without a span. */
    @Benchmark
    public Decision untraced() {
        return engine.decide(binding, call, null);
    }

    /** Decides a call within a new recorded span. */
    @Benchmark
    public Decision traced() throws Exception {
        Span span = tracer.spanBuilder("request").startSpan();
        try {
            return Context.root().with(span).wrap(this::untraced).call();
        } finally {
            span.end();
        }
    }
}
