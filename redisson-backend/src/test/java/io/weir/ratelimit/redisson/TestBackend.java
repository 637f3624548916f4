// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.redisson.client.RedisAddress;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.lease.Timer;
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
 * A backend with a client and a namespace of its own, whose keys are removed at the end.
 *
 * @param address the address of Redis
 * @param client the client with the default settings of its library, which include retries
 * @param namespace the namespace
 * @param backend the backend, which uses Redis's clock
 */
public record TestBackend(String address, RedissonClient client, String namespace, RedissonBackend backend)
        implements AutoCloseable {
    static final String POLICY = "api";

    public static TestBackend on(String address) {
        return on(address, Duration.ofSeconds(20));
    }

    public static TestBackend on(String address, Duration deadline) {
        return on(address, deadline, Timer.PLATFORM);
    }

    /** Connects a backend with a timer of the checks of leases. */
    public static TestBackend on(String address, Duration deadline, Timer leaseTimer) {
        return on(address, "test-" + UUID.randomUUID(), deadline, leaseTimer);
    }

    private static TestBackend on(String address, String namespace, Duration deadline, Timer leaseTimer) {
        RedisAddress parsed = RedisAddress.parse(address);
        // The default codec needs jars that scripts do not need.
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        parsed.user().ifPresent(config::setUsername);
        parsed.password().ifPresent(config::setPassword);
        config.useSingleServer().setAddress(parsed.server()).setDatabase(parsed.database());
        RedissonClient client = Redisson.create(config);
        return new TestBackend(address, client, namespace, withoutBreaker(client, namespace, deadline, leaseTimer));
    }

    /** Returns another instance with the same keys and a client of its own. */
    TestBackend anotherClient() {
        return on(address, namespace, Duration.ofSeconds(20), Timer.PLATFORM).ready();
    }

    /** Returns another instance with the same keys and the same client, which the caller closes. */
    RedissonBackend another() {
        Duration deadline = Duration.ofSeconds(20);
        // Without a self-test, whose commands some tests would count.
        RedissonBackend another = new RedissonBackend(
                new RedisClient(() -> client, false, namespace, deadline),
                namespace,
                deadline,
                ScriptSender.REDIS_CLOCK,
                new Breaker(BreakerSettings.DEFAULT, Breaker.Platform.NONE, System::nanoTime, (requests, keys) -> {}));
        FaultCalls.awaitDecision(another);
        return another;
    }

    /** Returns a backend whose calls all reach Redis, even if many fail. */
    private static RedissonBackend withoutBreaker(
            RedissonClient client, String namespace, Duration deadline, Timer leaseTimer) {
        return new RedissonBackend(
                new RedisClient(() -> client, false, namespace, deadline),
                namespace,
                deadline,
                ScriptSender.REDIS_CLOCK,
                Breaker.disabled(),
                leaseTimer);
    }

    /** Returns a limit whose permits can all be spent at once, for which a leaky bucket needs a burst. */
    public static Limit limitOf(Algorithm algorithm, long permits, Duration window) {
        return algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, permits, window, permits)
                : Limit.of(algorithm, permits, window);
    }

    public static Charge charge(String storedKey, long cost, Limit... limits) {
        return new Charge(new PolicyLimits(POLICY, List.of(limits)), storedKey, cost);
    }

    public Decision acquire(String storedKey, long cost, Limit... limits) {
        return backend.acquire(List.of(charge(storedKey, cost, limits)));
    }

    public long remaining(String storedKey, Limit limit) {
        return backend.peek(List.of(charge(storedKey, 1, limit))).get(0).remaining();
    }

    /** Returns the key of a caller in Redis. */
    String key(String storedKey) {
        return "weir:2:{" + namespace + ":" + storedKey + "}:" + POLICY;
    }

    /** Returns a pattern for all keys of the namespace. */
    String pattern() {
        return "weir:2:{" + namespace + ":*";
    }

    /** Waits until the backend decides. */
    public TestBackend ready() {
        Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofSeconds(1));
        Await.until("the backend decides", Duration.ofSeconds(20), () -> {
            try {
                return acquire("k.ready", 1, limit).allowed();
            } catch (BackendException e) {
                return false;
            }
        });
        return this;
    }

    /** Closes the client, and removes the keys if Redis is available. */
    @Override
    public void close() {
        backend.close();
        client.shutdown();
        try (RedisConnection connection = RedisConnection.to(address)) {
            connection.drop(pattern());
        } catch (UncheckedIOException e) {
            // Redis has stopped, and its keys are lost
        }
    }
}
