// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;

/** The limiter of Redisson, with one rate for all clients. It supports one limit, so several limits are decided one after the other. */
final class RedissonLimiter implements Contender {
    private static final int MAX_PENDING = 500;

    private final List<List<RRateLimiter>> limiters = new ArrayList<>();

    RedissonLimiter(RedissonClient client, String namespace, Workload workload) {
        List<CompletableFuture<Boolean>> pending = new ArrayList<>();
        for (int key = 0; key < workload.keys(); key++) {
            List<RRateLimiter> ofKey = new ArrayList<>();
            List<String> names = workload.redisKeys(namespace, key);
            for (int limit = 0; limit < names.size(); limit++) {
                RRateLimiter limiter = client.getRateLimiter(names.get(limit));
                Duration window = workload.windows().get(limit);
                pending.add(limiter.trySetRateAsync(RateType.OVERALL, workload.permits(), window)
                        .toCompletableFuture());
                ofKey.add(limiter);
            }
            limiters.add(ofKey);
            if (pending.size() >= MAX_PENDING) {
                pending.forEach(CompletableFuture::join);
                pending.clear();
            }
        }
        pending.forEach(CompletableFuture::join);
    }

    @Override
    public String name() {
        return "Redisson `RRateLimiter`";
    }

    @Override
    public Object decide(int key) {
        for (RRateLimiter limiter : limiters.get(key)) {
            if (!limiter.tryAcquire()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public CompletionStage<?> decideAsync(int key) {
        List<RRateLimiter> ofKey = limiters.get(key);
        CompletionStage<Boolean> result = ofKey.get(0).tryAcquireAsync();
        for (RRateLimiter limiter : ofKey.subList(1, ofKey.size())) {
            result = result.thenCompose(
                    allowed -> allowed ? limiter.tryAcquireAsync() : CompletableFuture.completedFuture(false));
        }
        return result;
    }

    @Override
    public boolean allowed(Object result) {
        return (Boolean) result;
    }
}
