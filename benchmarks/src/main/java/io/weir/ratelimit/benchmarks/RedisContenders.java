// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.redisson.RedisConnection;
import io.weir.ratelimit.redisson.RedisFixture;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** A decision on Redis, and the least that a script through the same client can cost: both wait for the answer. */
final class RedisContenders implements AutoCloseable {
    private static final int KEYS = 10_000;

    private final String namespace = "benchmark-" + UUID.randomUUID();
    private final RedissonClient client;
    private final RedissonBackend backend;
    private final RScript scripts;
    private final String floor;
    private final List<List<Charge>> charges = new ArrayList<>();
    private final List<List<Object>> floorKeys = new ArrayList<>();
    private int next;

    /**
     * Connects to the Redis that {@link RedisFixture} finds.
     *
     * @param algorithm how the limits count
     * @param limits how many limits a decision is about
     */
    RedisContenders(Algorithm algorithm, int limits) {
        Config config = new Config().setCodec(ByteArrayCodec.INSTANCE);
        config.useSingleServer().setAddress(RedisFixture.shared().address());
        client = Redisson.create(config);
        backend = new RedissonBackend(client, namespace, Duration.ofSeconds(10));
        scripts = client.getScript(ByteArrayCodec.INSTANCE);
        floor = scripts.scriptLoad("return 1");
        List<Limit> all = new ArrayList<>();
        for (int i = 1; i <= limits; i++) {
            all.add(Limit.of(algorithm, 1_000_000_000, Duration.ofHours(i)));
        }
        PolicyLimits policy = new PolicyLimits("api", all);
        for (int i = 0; i < KEYS; i++) {
            String identity = "i.10.1." + i / 256 + "." + i % 256;
            charges.add(List.of(new Charge(policy, identity, 1)));
            floorKeys.add(List.of("weir:1:{" + namespace + ":" + identity + "}:api:s3600000"));
        }
    }

    /** A decision about the next of 10,000 keys. */
    Decision decision() {
        return backend.acquire(charges.get(turn()));
    }

    /** A script that does nothing, with the next of 10,000 keys. */
    Object floor() {
        return scripts.evalSha(RScript.Mode.READ_WRITE, floor, RScript.ReturnType.LONG, floorKeys.get(turn()));
    }

    private int turn() {
        next = next + 1 == KEYS ? 0 : next + 1;
        return next;
    }

    @Override
    public void close() {
        backend.close();
        client.shutdown();
        try (RedisConnection redis = RedisFixture.shared().connect()) {
            redis.drop("weir:1:{" + namespace + ":*");
        }
    }
}
