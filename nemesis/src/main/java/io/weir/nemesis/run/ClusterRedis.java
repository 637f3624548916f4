// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The masters of a cluster, to which the instances connect directly. */
final class ClusterRedis implements Servers {
    private static final int AT_ONCE = 10;
    private static final int TIMEOUT_MILLIS = 5_000;

    private final ClusterFixture cluster = ClusterFixture.started(0);
    private final Map<Long, RedisProcess> moved = new HashMap<>();

    /** Begins to move the hash slot of a key to another master, and returns how to end it. */
    Runnable moveSlot(Random random) {
        String key = anyKey(random);
        long slot = cluster.slot(key);
        RedisProcess from = moved.getOrDefault(slot, cluster.masterOf(key));
        List<RedisProcess> others =
                masters().stream().filter(master -> master != from).toList();
        RedisProcess to = others.get(random.nextInt(others.size()));
        setSlot(to, slot, "IMPORTING", from);
        setSlot(from, slot, "MIGRATING", to);
        moveKeys(from, to, slot);
        return () -> {
            while (moveKeys(from, to, slot)) {
                // Until there are no more keys.
            }
            setSlot(to, slot, "NODE", to);
            masters().forEach(node -> setSlot(node, slot, "NODE", to));
            moved.put(slot, to);
        };
    }

    /** Returns a key that calls use all the time, or that of the runtime changes. */
    private String anyKey(Random random) {
        List<String> keys = masters().stream()
                .flatMap(master -> {
                    try (RedisConnection connection = master.connect()) {
                        return connection.keys("*").stream();
                    }
                })
                .filter(key -> !key.contains("account"))
                .sorted()
                .toList();
        return keys.get(random.nextInt(keys.size()));
    }

    private static void setSlot(RedisProcess node, long slot, String state, RedisProcess other) {
        try (RedisConnection connection = node.connect();
                RedisConnection ofOther = other.connect()) {
            connection.call("CLUSTER", "SETSLOT", slot, state, ofOther.text("CLUSTER", "MYID"));
        }
    }

    /** Moves some keys, and returns whether there were any. */
    private static boolean moveKeys(RedisProcess from, RedisProcess to, long slot) {
        try (RedisConnection connection = from.connect()) {
            List<?> keys = (List<?>) connection.call("CLUSTER", "GETKEYSINSLOT", slot, AT_ONCE);
            for (Object key : keys) {
                String name = new String((byte[]) key, StandardCharsets.UTF_8);
                connection.call("MIGRATE", "127.0.0.1", to.port(), name, 0, TIMEOUT_MILLIS, "REPLACE");
            }
            return !keys.isEmpty();
        }
    }

    @Override
    public Map<String, String> properties(int instance) {
        return Map.of("ratelimit.redis.address", cluster.address());
    }

    @Override
    public List<RedisProcess> masters() {
        return cluster.masters();
    }

    @Override
    public void close() {
        cluster.close();
    }
}
