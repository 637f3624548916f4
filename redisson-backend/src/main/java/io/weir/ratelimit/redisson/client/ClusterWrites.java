// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.weir.ratelimit.redisson.script.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.NameMapper;
import org.redisson.connection.ConnectionManager;
import org.redisson.connection.MasterSlaveEntry;

/** The writes to the masters of a cluster. */
final class ClusterWrites {
    private final ConnectionManager connections;
    private final NameMapper names;
    private final ConcurrentHashMap<MasterSlaveEntry, MasterWrites> writes = new ConcurrentHashMap<>();

    private ClusterWrites(ConnectionManager connections) {
        this.connections = connections;
        this.names = connections.getServiceManager().getNameMapper();
    }

    /** Returns the writes of a client; null if it is not a client of a cluster, or hides its connections, as a proxy does. */
    static @Nullable ClusterWrites of(RedissonClient client) {
        return client instanceof Redisson redisson && client.getConfig().isClusterConfig()
                ? new ClusterWrites(redisson.getCommandExecutor().getConnectionManager())
                : null;
    }

    /** Sends the digest of a script until the deadline to the master of its keys, which are in one slot; null if that is unknown. */
    @Nullable
    CompletableFuture<byte[]> send(Script script, List<Object> keys, byte[] argument, long deadlineNanos) {
        List<Object> mapped = new ArrayList<>(keys.size());
        for (Object key : keys) {
            mapped.add(names.map((String) key));
        }
        MasterSlaveEntry master = connections.getWriteEntry(connections.calcSlot((String) mapped.get(0)));
        if (master == null) {
            return null;
        }
        QueuedCall call = new QueuedCall(script.digest(), mapped, argument, deadlineNanos);
        writes(master).send(call);
        return call;
    }

    private MasterWrites writes(MasterSlaveEntry master) {
        MasterWrites known = writes.get(master);
        if (known != null) {
            return known;
        }
        // Masters that have left the cluster are forgotten. Their calls in flight complete all the same.
        writes.keySet().retainAll(connections.getEntrySet());
        return writes.computeIfAbsent(master, added -> new MasterWrites(added, connections.getServiceManager()));
    }
}
