// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.github.bucket4j.distributed.proxy.optimization.DelayParameters;
import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** The contenders of a workload, beginning with the two floors. Each has used every key once, so that no key is new in Redis. */
final class Contenders implements AutoCloseable {
    /** At most as many permits in memory as a lease has. */
    private static final DelayParameters HELD = new DelayParameters(Weir.LEASE, Duration.ofSeconds(1));

    private static final LoadPattern WARM_UP = new LoadPattern.Threads(16);

    private final List<MeasuredContender> all = new ArrayList<>();
    private final RedisUnderTest redis;
    private final Workload workload;
    private final Options options;

    Contenders(RedisUnderTest redis, Workload workload, Options options) {
        this.redis = redis;
        this.workload = workload;
        this.options = options;
        add(new Floor(redis.redisson(), namespace(), workload));
        add(new LettuceScript(new LettuceFloor(), redis.lettuce(), namespace(), workload.withOneLimit()));
        options.algorithms().forEach(this::addWeir);
        add("Redisson `RRateLimiter`", () -> new RedissonLimiter(redis.redisson(), namespace(), workload));
        addBucket4j("Bucket4j on Redisson", Optimization.NONE_OPTIMIZED);
        addBucket4j("Bucket4j on Redisson, `batching()`", Optimizations.batching());
        addBucket4j("Bucket4j on Lettuce", Optimization.NONE_OPTIMIZED);
        addBucket4j("Bucket4j on Lettuce, `batching()`", Optimizations.batching());
        if (holdsPermitsPay()) {
            addBucket4j("Bucket4j on Redisson, `delaying()`", Optimizations.delaying(HELD));
            addBucket4j("Bucket4j on Lettuce, `delaying()`", Optimizations.delaying(HELD));
            addBucket4j("Bucket4j on Lettuce, `predicting()`", Optimizations.predicting(HELD));
        }
        List.of(
                        new RedisRate(workload),
                        new SpringGateway(workload),
                        new UpstashFixedWindow(workload),
                        new UpstashSlidingWindow(workload))
                .forEach(this::addScript);
        add(CounterPipeline.NAME, () -> new CounterPipeline(redis.lettuce(), namespace(), workload));
    }

    /** Returns whether contenders that hold permits in memory take part: those with many calls of a key between two calls of Redis. */
    private boolean holdsPermitsPay() {
        return workload.keys() == 1 && workload.limits() == 1 && !workload.rejected();
    }

    private void addWeir(Algorithm algorithm) {
        add("weir", () -> Weir.of(redis.redisson(), namespace(), workload, algorithm, options.deadline()));
        if (redis.isCluster()) {
            add(
                    "weir",
                    () -> Weir.writePerCall(redis.redisson(), namespace(), workload, algorithm, options.deadline()));
        }
        if (holdsPermitsPay() && algorithm != Algorithm.LEAKY_BUCKET) {
            add("weir", () -> Weir.leasing(redis.redisson(), namespace(), workload, algorithm, options.deadline()));
        }
        if (workload.rejected()) {
            add("weir", () -> Weir.uncached(redis.redisson(), namespace(), workload, algorithm, options.deadline()));
        }
    }

    private void addBucket4j(String name, Optimization optimization) {
        add(
                name,
                () -> new Bucket4j(
                        name,
                        name.contains("Lettuce") ? Bucket4j.on(redis.lettuce()) : Bucket4j.on(redis.redisson()),
                        optimization,
                        namespace(),
                        workload));
    }

    private void addScript(PeerScript script) {
        add(script.name(), () -> new LettuceScript(script, redis.lettuce(), namespace(), workload));
    }

    /** Returns the namespace of the next contender. All have the same length. */
    private String namespace() {
        return String.format(Locale.ROOT, "%s-%s-%02d", redis.namespace(), workload.name(), all.size());
    }

    private void add(String name, Supplier<Contender> contender) {
        if (options.includes(name)) {
            add(contender.get());
        }
    }

    private void add(Contender contender) {
        MeasuredContender measured = new MeasuredContender(contender, workload, options.deadline());
        WARM_UP.run(measured, () -> measured.started() < workload.keys());
        all.add(measured);
    }

    List<MeasuredContender> all() {
        return all;
    }

    /** Returns the contenders without the floors. */
    List<MeasuredContender> limiters() {
        return all.stream()
                .filter(contender -> !contender.limiter().name().endsWith(Floor.NAME))
                .toList();
    }

    @Override
    public void close() {
        for (MeasuredContender measured : all) {
            measured.limiter().close();
        }
    }
}
