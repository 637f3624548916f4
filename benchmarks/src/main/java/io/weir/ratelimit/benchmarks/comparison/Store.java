// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.redisson.RedisConnection;
import io.weir.ratelimit.redisson.RedisProcess;
import java.util.List;
import java.util.UUID;
import org.redisson.Redisson;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** The Redis that all contenders use, one client of each kind on it, and a look at what it spends. */
public final class Store implements AutoCloseable {
    private final List<String> addresses;
    private final Runnable end;
    private final List<RedisConnection> masters;
    private final Redisson redisson;
    private final Lettuce lettuce;
    private final String namespace = "c-" + UUID.randomUUID().toString().substring(0, 8);

    private Store(List<String> addresses, boolean cluster, Runnable end) {
        this.addresses = addresses;
        this.end = end;
        this.masters = addresses.stream().map(RedisConnection::to).toList();
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        if (cluster) {
            config.useClusterServers().addNodeAddress(addresses.toArray(String[]::new));
        } else {
            config.useSingleServer().setAddress(addresses.get(0));
        }
        this.redisson = (Redisson) Redisson.create(config);
        this.lettuce = cluster ? Lettuce.toCluster(addresses) : Lettuce.to(addresses.get(0));
    }

    /** Starts a Redis that nobody else uses. */
    public static Store own() {
        RedisProcess process = RedisProcess.started();
        return new Store(List.of(process.address()), false, process::close);
    }

    /**
     * Connects to a cluster that nobody else uses meanwhile.
     *
     * @param addresses all its masters, as {@code redis://host:port}
     */
    public static Store cluster(List<String> addresses) {
        return new Store(addresses, true, () -> {});
    }

    Redisson redisson() {
        return redisson;
    }

    Lettuce lettuce() {
        return lettuce;
    }

    /** In front of all keys of this run. */
    String namespace() {
        return namespace;
    }

    /** What is said of it above the table. */
    String description() {
        String version = RedisSpending.field(masters.get(0).text("INFO", "server"), "redis_version");
        return "Redis " + version
                + (masters.size() == 1 ? ", standalone" : ", a cluster of " + addresses.size() + " masters");
    }

    /** What all servers have spent so far. */
    RedisSpending spending() {
        return masters.stream()
                .map(RedisSpending::of)
                .reduce(RedisSpending::plus)
                .orElseThrow();
    }

    @Override
    public void close() {
        lettuce.close();
        redisson.shutdown();
        for (RedisConnection master : masters) {
            master.drop("*" + namespace + "*");
            master.close();
        }
        end.run();
    }
}
