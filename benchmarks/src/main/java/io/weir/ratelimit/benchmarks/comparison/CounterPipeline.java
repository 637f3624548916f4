// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.output.BooleanOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/**
 * The algorithm of Envoy's rate limit service: one pipeline with {@code INCRBY} and {@code EXPIRE} of a counter per limit and window. It is
 * not all or nothing: a call that one limit rejects spends permits of the others, and rejected calls count, too. The code is written from
 * the description of the service and is not its code. The service is written in Go, and can keep rejected keys in memory; here, Lettuce
 * sends the commands, and nothing is kept.
 */
final class CounterPipeline implements Contender {
    static final String NAME = "pipeline of `INCRBY` and `EXPIRE` on Lettuce";

    private final StatefulConnection<String, byte[]> redis;
    private final List<List<String>> keys;
    private final List<Duration> windows;
    private final long permits;

    CounterPipeline(Lettuce lettuce, String namespace, Workload workload) {
        this.redis = lettuce.connection();
        windows = workload.windows();
        permits = workload.permits();
        keys = IntStream.range(0, workload.keys())
                .mapToObj(key -> workload.redisKeys(namespace, key))
                .toList();
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Object decide(int key) {
        return Lettuce.await(decideAsync(key));
    }

    @Override
    public CompletionStage<?> decideAsync(int key) {
        List<AsyncCommand<String, byte[], ?>> pipeline = new ArrayList<>();
        CompletableFuture<Boolean> allowed = CompletableFuture.completedFuture(true);
        for (int limit = 0; limit < windows.size(); limit++) {
            Duration window = windows.get(limit);
            String counter = keys.get(key).get(limit) + ":" + System.currentTimeMillis() / window.toMillis();
            AsyncCommand<String, byte[], Long> increment = increment(counter);
            pipeline.add(increment);
            pipeline.add(expire(counter, window));
            CompletableFuture<Boolean> below = increment.thenApply(spent -> spent <= permits);
            allowed = allowed.thenCombine(below, Boolean::logicalAnd);
        }
        redis.dispatch(pipeline);
        return allowed;
    }

    private AsyncCommand<String, byte[], Long> increment(String counter) {
        return new AsyncCommand<>(new Command<>(
                CommandType.INCRBY,
                new IntegerOutput<>(Lettuce.CODEC),
                new CommandArgs<>(Lettuce.CODEC).addKey(counter).add(1)));
    }

    private AsyncCommand<String, byte[], Boolean> expire(String counter, Duration window) {
        return new AsyncCommand<>(new Command<>(
                CommandType.EXPIRE,
                new BooleanOutput<>(Lettuce.CODEC),
                new CommandArgs<>(Lettuce.CODEC).addKey(counter).add(window.toSeconds())));
    }

    @Override
    public boolean allowed(Object result) {
        return (Boolean) result;
    }
}
