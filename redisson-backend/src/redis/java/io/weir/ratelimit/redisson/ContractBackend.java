// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/**
 * A backend for the backend contract, on a client with the configuration of an application.
 *
 * @param client the client
 * @param redis its scripts, whose keys expire by the clock of the contract
 * @param namespace the namespace
 */
record ContractBackend(RedissonClient client, RedisClient redis, String namespace) implements AutoCloseable {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    /** The client times out first: its failure says whether it had a connection, and whether it wrote the call. */
    private static final Duration CLIENT_DEADLINE = Duration.ofSeconds(15);

    private static final Duration READY_WITHIN = Duration.ofSeconds(60);

    static ContractBackend of(Map<String, String> properties) {
        RedisSettings settings = RedisSettings.read(new TestConfig(properties).properties(), false);
        if (!settings.problems().isEmpty()) {
            throw new AssertionError(settings.problems());
        }
        RedissonClient client = Redisson.create(settings.client().orElseThrow());
        String namespace = "test-" + UUID.randomUUID();
        ContractBackend fixture = new ContractBackend(
                client,
                new RedisClient(() -> ManualExpiryClient.of(client), false, namespace, CLIENT_DEADLINE),
                namespace);
        // This backend uses Redis's clock.
        RateLimitBackend backend = fixture.backend(() -> 0);
        Await.until("the backend decides", READY_WITHIN, () -> {
            try {
                return !backend.peek(List.of(TestBackend.charge("k.ready", 1, FaultCalls.LIMIT)))
                        .isEmpty();
            } catch (BackendException e) {
                return false;
            }
        });
        return fixture;
    }

    RateLimitBackend backend(TimeSource time) {
        return new RedissonBackend(redis, namespace, DEADLINE, time);
    }

    @Override
    public void close() {
        redis.close();
        client.shutdown();
    }
}
