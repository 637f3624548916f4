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

/** Redisson's own limiter, with one rate for all its clients. It knows one limit; several are asked one after the other. */
final class RedissonLimiter implements Contender {
    private static final int AT_ONCE = 500;

    private final List<List<RRateLimiter>> limiters = new ArrayList<>();

    RedissonLimiter(RedissonClient client, String namespace, Workload workload) {
        List<CompletableFuture<Boolean>> made = new ArrayList<>();
        for (int key = 0; key < workload.keys(); key++) {
            List<RRateLimiter> ofKey = new ArrayList<>();
            for (Duration window : workload.windows()) {
                RRateLimiter limiter = client.getRateLimiter(
                        namespace + ":" + Workload.identity(key) + ":" + Weir.POLICY + ":" + window.toHours() + "h");
                made.add(limiter.trySetRateAsync(RateType.OVERALL, Workload.PLENTY, window)
                        .toCompletableFuture());
                ofKey.add(limiter);
            }
            limiters.add(ofKey);
            if (made.size() >= AT_ONCE) {
                made.forEach(CompletableFuture::join);
                made.clear();
            }
        }
        made.forEach(CompletableFuture::join);
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
        CompletionStage<Boolean> answer = ofKey.get(0).tryAcquireAsync();
        for (RRateLimiter limiter : ofKey.subList(1, ofKey.size())) {
            answer = answer.thenCompose(
                    admitted -> admitted ? limiter.tryAcquireAsync() : CompletableFuture.completedFuture(false));
        }
        return answer;
    }

    @Override
    public boolean admitted(Object answer) {
        return (Boolean) answer;
    }
}
