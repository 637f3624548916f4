// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import static io.github.bucket4j.distributed.ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax;

import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConfigurationBuilder;
import io.github.bucket4j.distributed.AsyncBucketProxy;
import io.github.bucket4j.distributed.BucketProxy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.distributed.proxy.RemoteAsyncBucketBuilder;
import io.github.bucket4j.distributed.proxy.RemoteBucketBuilder;
import io.github.bucket4j.distributed.proxy.optimization.Optimization;
import io.github.bucket4j.distributed.serialization.Mapper;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce.LettuceBasedProxyManagerBuilder;
import io.github.bucket4j.redis.redisson.Bucket4jRedisson;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.redisson.Redisson;

/**
 * Bucket4j, with one bucket per key. The buckets are created once and reused, as its optimizations require. Several limits are several
 * bandwidths of one bucket, which are spent all or nothing.
 */
final class Bucket4j implements Contender {
    /** Longer than the pause between two turns, so that no bucket expires. */
    private static final Duration EXPIRATION = Duration.ofHours(1);

    private final String name;
    private final List<BucketProxy> buckets = new ArrayList<>();
    private final List<AsyncBucketProxy> asyncBuckets = new ArrayList<>();

    Bucket4j(
            String name, ProxyManager<String> manager, Optimization optimization, String namespace, Workload workload) {
        this.name = name;
        BucketConfiguration configuration = configuration(workload);
        RemoteBucketBuilder<String> builder = manager.builder().withOptimization(optimization);
        RemoteAsyncBucketBuilder<String> asyncBuilder =
                manager.asAsync().builder().withOptimization(optimization);
        for (int key = 0; key < workload.keys(); key++) {
            String text = workload.redisKeys(namespace, key).get(0);
            buckets.add(builder.build(text, () -> configuration));
            asyncBuckets.add(asyncBuilder.build(text, () -> CompletableFuture.completedFuture(configuration)));
        }
    }

    static ProxyManager<String> on(Redisson client) {
        return Bucket4jRedisson.casBasedBuilder(client.getCommandExecutor())
                .expirationAfterWrite(basedOnTimeForRefillingBucketUpToMax(EXPIRATION))
                .keyMapper(Mapper.STRING)
                .build();
    }

    static ProxyManager<String> on(Lettuce lettuce) {
        LettuceBasedProxyManagerBuilder<String> builder = lettuce.cluster()
                .map(Bucket4jLettuce::casBasedBuilder)
                .orElseGet(
                        () -> Bucket4jLettuce.casBasedBuilder(lettuce.single().orElseThrow()));
        return builder.expirationAfterWrite(basedOnTimeForRefillingBucketUpToMax(EXPIRATION))
                .build();
    }

    private static BucketConfiguration configuration(Workload workload) {
        ConfigurationBuilder builder = BucketConfiguration.builder();
        for (Duration window : workload.windows()) {
            builder.addLimit(limit -> limit.capacity(workload.permits()).refillGreedy(workload.permits(), window));
        }
        return builder.build();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean holdsPermits() {
        return name.contains("delaying") || name.contains("predicting");
    }

    @Override
    public Object decide(int key) {
        return buckets.get(key).tryConsume(1);
    }

    @Override
    public CompletionStage<?> decideAsync(int key) {
        return asyncBuckets.get(key).tryConsume(1);
    }

    @Override
    public boolean allowed(Object result) {
        return (Boolean) result;
    }
}
