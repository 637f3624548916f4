// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.netty.channel.ChannelFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisConnection;
import org.redisson.connection.ConnectionManager;
import org.redisson.connection.MasterSlaveEntry;

/**
 * The renewal of the connections to a single address. Behind a virtual address, a connection can last longer than the role of its server:
 * after a failover it leads to a replica, and only a new connection leads to the master. In the other topologies, the client itself finds
 * the master. A client of the application keeps its connections, because its own commands run on them.
 */
final class ConnectionRenewal implements Runnable {
    /** A failover can last longer. Meanwhile the connections are not renewed for each call. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ConnectionManager connections;
    private final LongSupplier nanoTime;
    private final AtomicLong next;

    private ConnectionRenewal(ConnectionManager connections, LongSupplier nanoTime) {
        this.connections = connections;
        this.nanoTime = nanoTime;
        this.next = new AtomicLong(nanoTime.getAsLong());
    }

    /** Returns the renewal for a client; one without effect if the client has no single address, or hides its connections. */
    static Runnable of(RedissonClient client) {
        return client instanceof Redisson redisson && client.getConfig().isSingleConfig()
                ? new ConnectionRenewal(redisson.getCommandExecutor().getConnectionManager(), System::nanoTime)
                : () -> {};
    }

    /** Closes all connections, which the client then opens again. */
    @Override
    public void run() {
        long now = nanoTime.getAsLong();
        long due = next.get();
        if (now - due >= 0 && next.compareAndSet(due, now + PAUSE_NANOS)) {
            for (MasterSlaveEntry entry : connections.getEntrySet()) {
                for (RedisConnection connection :
                        entry.getEntry().getConnectionsHolder().getAllConnections()) {
                    ChannelFuture unused = connection.getChannel().close();
                }
            }
        }
    }
}
