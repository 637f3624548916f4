// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.weir.ratelimit.Algorithm;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The contenders on a workload, the floor first; each has touched every key once, so that none is new to the store. */
final class Entrants implements AutoCloseable {
    private static final Drive FILLING = new Drive.Threads(16);

    private final List<Entrant> all = new ArrayList<>();
    private final Workload workload;
    private final Options options;

    Entrants(Store store, Workload workload, Options options) {
        this.workload = workload;
        this.options = options;
        String namespace = store.namespace() + "-" + workload.name();
        enter(new Floor(store.redisson(), namespace, workload));
        for (Algorithm algorithm : options.algorithms()) {
            if (!workload.refused()) {
                enter("weir", () -> Weir.of(store.redisson(), namespace, workload, algorithm));
                if (workload.keys() == 1 && algorithm != Algorithm.LEAKY_BUCKET) {
                    enter("weir", () -> Weir.leasing(store.redisson(), namespace + "-lease", workload, algorithm));
                }
                continue;
            }
            enter("weir", () -> Weir.refusing(store.redisson(), namespace, workload, algorithm));
            if (workload.keys() == 1) {
                enter("weir", () -> Weir.remembering(store.redisson(), namespace + "-memory", workload, algorithm));
            }
        }
        if (!workload.refused()) {
            enter("redisson", () -> new RedissonLimiter(store.redisson(), namespace + "-redisson", workload));
            enterBucket4j("Bucket4j on Redisson", store, Optimization.NONE_OPTIMIZED);
            enterBucket4j("Bucket4j on Redisson, `batching()`", store, Optimizations.batching());
            enterBucket4j("Bucket4j on Lettuce", store, Optimization.NONE_OPTIMIZED);
        }
    }

    private void enterBucket4j(String name, Store store, Optimization optimization) {
        String prefix = store.namespace() + "-" + workload.name() + "-" + all.size();
        enter(
                name,
                () -> new Bucket4j(
                        name,
                        name.contains("Lettuce") ? Bucket4j.on(store.lettuce()) : Bucket4j.on(store.redisson()),
                        optimization,
                        prefix,
                        workload));
    }

    private void enter(String name, Supplier<Contender> contender) {
        if (options.wants(name)) {
            enter(contender.get());
        }
    }

    private void enter(Contender contender) {
        Entrant entrant = new Entrant(contender, workload);
        FILLING.run(entrant, () -> entrant.turns() < workload.keys());
        all.add(entrant);
    }

    List<Entrant> all() {
        return all;
    }

    @Override
    public void close() {
        for (Entrant entrant : all) {
            entrant.contender().close();
        }
    }
}
