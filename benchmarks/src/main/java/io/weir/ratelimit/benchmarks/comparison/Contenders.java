// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.weir.ratelimit.Algorithm;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The contenders of a workload, beginning with the floor. Each has used every key once, so that no key is new in Redis. */
final class Contenders implements AutoCloseable {
    private static final LoadPattern WARM_UP = new LoadPattern.Threads(16);

    private final List<MeasuredContender> all = new ArrayList<>();
    private final Workload workload;
    private final Options options;

    Contenders(RedisUnderTest redis, Workload workload, Options options) {
        this.workload = workload;
        this.options = options;
        String namespace = redis.namespace() + "-" + workload.name();
        add(new Floor(redis.redisson(), namespace, workload));
        for (Algorithm algorithm : options.algorithms()) {
            if (!workload.rejected()) {
                add("weir", () -> Weir.of(redis.redisson(), namespace, workload, algorithm));
                if (workload.keys() == 1 && algorithm != Algorithm.LEAKY_BUCKET) {
                    add("weir", () -> Weir.leasing(redis.redisson(), namespace + "-lease", workload, algorithm));
                }
                continue;
            }
            add("weir", () -> Weir.uncached(redis.redisson(), namespace, workload, algorithm));
            if (workload.keys() == 1) {
                add("weir", () -> Weir.cached(redis.redisson(), namespace + "-cache", workload, algorithm));
            }
        }
        if (!workload.rejected()) {
            add("redisson", () -> new RedissonLimiter(redis.redisson(), namespace + "-redisson", workload));
            addBucket4j("Bucket4j on Redisson", redis, Optimization.NONE_OPTIMIZED);
            addBucket4j("Bucket4j on Redisson, `batching()`", redis, Optimizations.batching());
            addBucket4j("Bucket4j on Lettuce", redis, Optimization.NONE_OPTIMIZED);
        }
    }

    private void addBucket4j(String name, RedisUnderTest redis, Optimization optimization) {
        String prefix = redis.namespace() + "-" + workload.name() + "-" + all.size();
        add(
                name,
                () -> new Bucket4j(
                        name,
                        name.contains("Lettuce") ? Bucket4j.on(redis.lettuce()) : Bucket4j.on(redis.redisson()),
                        optimization,
                        prefix,
                        workload));
    }

    private void add(String name, Supplier<Contender> contender) {
        if (options.includes(name)) {
            add(contender.get());
        }
    }

    private void add(Contender contender) {
        MeasuredContender measured = new MeasuredContender(contender, workload);
        WARM_UP.run(measured, () -> measured.started() < workload.keys());
        all.add(measured);
    }

    List<MeasuredContender> all() {
        return all;
    }

    @Override
    public void close() {
        for (MeasuredContender measured : all) {
            measured.limiter().close();
        }
    }
}
