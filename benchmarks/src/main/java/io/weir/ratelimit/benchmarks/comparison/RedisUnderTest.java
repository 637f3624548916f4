// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.util.List;
import java.util.UUID;
import org.redisson.Redisson;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** The Redis that all contenders use, with a Redisson and a Lettuce client. */
public final class RedisUnderTest implements AutoCloseable {
    private final List<String> addresses;
    private final Runnable onClose;
    private final List<RedisConnection> masters;
    private final Redisson redisson;
    private final Lettuce lettuce;
    private final String namespace = "c-" + UUID.randomUUID().toString().substring(0, 8);

    private RedisUnderTest(List<String> addresses, boolean cluster, Runnable onClose) {
        this.addresses = addresses;
        this.onClose = onClose;
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

    /** Starts a new Redis process. */
    public static RedisUnderTest start() {
        RedisProcess process = RedisProcess.started();
        return new RedisUnderTest(List.of(process.address()), false, process::close);
    }

    /** Connects to a Redis. */
    static RedisUnderTest single(String address) {
        return new RedisUnderTest(List.of(address), false, () -> {});
    }

    /** Starts a new cluster of three masters. */
    public static RedisUnderTest startCluster() {
        ClusterFixture cluster = ClusterFixture.started(0);
        return new RedisUnderTest(
                cluster.masters().stream().map(RedisProcess::address).toList(), true, cluster::close);
    }

    /**
     * Connects to a cluster without other users.
     *
     * @param addresses the addresses of all masters, as {@code redis://host:port}
     */
    public static RedisUnderTest cluster(List<String> addresses) {
        return new RedisUnderTest(addresses, true, () -> {});
    }

    Redisson redisson() {
        return redisson;
    }

    Lettuce lettuce() {
        return lettuce;
    }

    boolean isCluster() {
        return lettuce.cluster().isPresent();
    }

    /** Returns the prefix of all keys of this run. */
    String namespace() {
        return namespace;
    }

    /** Returns the description above the table. */
    String description() {
        String version = RedisUsage.field(masters.get(0).text("INFO", "server"), "redis_version");
        return "Redis " + version
                + (masters.size() == 1 ? ", standalone" : ", a cluster of " + addresses.size() + " masters");
    }

    /** Returns the usage of all servers until now. */
    RedisUsage usage() {
        return masters.stream().map(RedisUsage::of).reduce(RedisUsage::plus).orElseThrow();
    }

    @Override
    public void close() {
        lettuce.close();
        redisson.shutdown();
        for (RedisConnection master : masters) {
            master.drop("*" + namespace + "*");
            master.close();
        }
        onClose.run();
    }
}
