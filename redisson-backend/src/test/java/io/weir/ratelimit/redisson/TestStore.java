// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A store on a client of its own, in a namespace that nobody else uses and that is emptied in the end.
 *
 * @param address where
 * @param client the client, as its library makes it by default, with retries
 * @param namespace the namespace
 * @param backend the store, on Redis's clock
 */
record TestStore(String address, RedissonClient client, String namespace, RedissonBackend backend)
        implements AutoCloseable {
    static final String POLICY = "api";

    static TestStore on(String address) {
        return on(address, Duration.ofSeconds(20));
    }

    static TestStore on(String address, Duration deadline) {
        RedisAddress parsed = RedisAddress.parse(address);
        // The default codec needs jars that scripts do not.
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        parsed.user().ifPresent(config::setUsername);
        parsed.password().ifPresent(config::setPassword);
        config.useSingleServer().setAddress(parsed.server()).setDatabase(parsed.database());
        RedissonClient client = Redisson.create(config);
        String namespace = "test-" + UUID.randomUUID();
        return new TestStore(address, client, namespace, withoutBreaker(client, namespace, deadline));
    }

    /** So that a test that makes calls fail sees each of them asked. */
    private static RedissonBackend withoutBreaker(RedissonClient client, String namespace, Duration deadline) {
        return new RedissonBackend(
                new RedisClient(() -> client, false, namespace, deadline), namespace, deadline, RedisStore.REDIS_CLOCK);
    }

    /** A limit whose permits can all be spent at once: a leaky bucket needs a burst for that. */
    static Limit limitOf(Algorithm algorithm, long permits, Duration window) {
        return algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, permits, window, permits)
                : Limit.of(algorithm, permits, window);
    }

    static Charge charge(String identity, long cost, Limit... limits) {
        return new Charge(new PolicyLimits(POLICY, List.of(limits)), identity, cost);
    }

    Decision acquire(String identity, long cost, Limit... limits) {
        return backend.acquire(List.of(charge(identity, cost, limits)));
    }

    long remaining(String identity, Limit limit) {
        return backend.peek(charge(identity, 1, limit)).get(0).remaining();
    }

    /** The key of the only limit of that window. */
    String key(String identity, String letterAndMillis) {
        return "weir:1:{" + namespace + ":" + identity + "}:" + POLICY + ":" + letterAndMillis;
    }

    /** All keys of the namespace. */
    String pattern() {
        return "weir:1:{" + namespace + ":*";
    }

    /** Waits until the store decides. */
    TestStore ready() {
        Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofSeconds(1));
        Await.until("the store decides", Duration.ofSeconds(20), () -> {
            try {
                return acquire("k.ready", 1, limit).allowed();
            } catch (BackendException e) {
                return false;
            }
        });
        return this;
    }

    /** Ends the client, and leaves nothing in a Redis that still answers. */
    @Override
    public void close() {
        backend.close();
        client.shutdown();
        try (RedisConnection connection = RedisConnection.to(address)) {
            connection.drop(pattern());
        } catch (UncheckedIOException e) {
            // it is gone, with all that was in it
        }
    }
}
