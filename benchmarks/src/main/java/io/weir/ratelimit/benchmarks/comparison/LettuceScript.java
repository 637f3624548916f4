// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/**
 * A limiter that decides on a limit by one script call, on the connection of Lettuce. Several limits are decided one after the other, until
 * one of them rejects the call.
 */
final class LettuceScript implements Contender {
    private final PeerScript script;
    private final RedisScriptingAsyncCommands<String, byte[]> redis;
    private final String digest;
    private final List<List<String>> keys;
    private final List<Duration> windows;

    LettuceScript(PeerScript script, Lettuce lettuce, String namespace, Workload workload) {
        this.script = script;
        redis = lettuce.scripting();
        digest = redis.scriptLoad(script.source()).toCompletableFuture().join();
        windows = workload.windows();
        keys = IntStream.range(0, workload.keys())
                .mapToObj(key -> workload.redisKeys(namespace, key))
                .toList();
    }

    @Override
    public String name() {
        return script.name();
    }

    @Override
    public Object decide(int key) {
        return Lettuce.await(decideAsync(key));
    }

    @Override
    public CompletionStage<?> decideAsync(int key) {
        List<String> limits = keys.get(key);
        CompletionStage<Object> result = call(limits, 0);
        for (int i = 1; i < limits.size(); i++) {
            int limit = i;
            result = result.thenCompose(
                    reply -> script.allows(reply) ? call(limits, limit) : CompletableFuture.completedFuture(reply));
        }
        return result;
    }

    private CompletionStage<Object> call(List<String> limits, int limit) {
        Duration window = windows.get(limit);
        return redis.evalsha(digest, script.reply(), script.keys(limits.get(limit), window), script.arguments(window));
    }

    @Override
    public boolean allowed(Object result) {
        return script.allows(result);
    }
}
