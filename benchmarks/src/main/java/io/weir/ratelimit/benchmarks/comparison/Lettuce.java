// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A Lettuce connection that all threads share, as Lettuce recommends.
 *
 * @param client the client that closes the connection
 * @param single the connection to a single server
 * @param cluster the connection to a cluster; exactly one of the two is present
 */
record Lettuce(
        AbstractRedisClient client,
        Optional<StatefulRedisConnection<String, byte[]>> single,
        Optional<StatefulRedisClusterConnection<String, byte[]>> cluster)
        implements AutoCloseable {
    static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

    static Lettuce to(String address) {
        RedisClient client = RedisClient.create(address);
        return new Lettuce(client, Optional.of(client.connect(CODEC)), Optional.empty());
    }

    static Lettuce toCluster(List<String> addresses) {
        RedisClusterClient client = RedisClusterClient.create(
                addresses.stream().map(RedisURI::create).toList());
        return new Lettuce(client, Optional.empty(), Optional.of(client.connect(CODEC)));
    }

    /** Returns the connection, which sends pipelines. */
    StatefulConnection<String, byte[]> connection() {
        return cluster.<StatefulConnection<String, byte[]>>map(Function.identity())
                .orElseGet(single::orElseThrow);
    }

    /** Returns the commands of scripts. */
    RedisScriptingAsyncCommands<String, byte[]> scripting() {
        return cluster.<RedisScriptingAsyncCommands<String, byte[]>>map(StatefulRedisClusterConnection::async)
                .orElseGet(() -> single.orElseThrow().async());
    }

    /** Waits for a result. */
    static Object await(CompletionStage<?> result) {
        return result.toCompletableFuture().join();
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
