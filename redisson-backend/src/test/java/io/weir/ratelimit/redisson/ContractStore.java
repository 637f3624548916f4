// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/**
 * A store for the contract of all stores, on a client that is made from configuration as an application's is.
 *
 * @param client the client
 * @param redis scripts on it, whose keys do not expire
 * @param namespace a namespace that nobody else uses
 */
record ContractStore(RedissonClient client, RedisClient redis, String namespace) implements AutoCloseable {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final Duration READY_WITHIN = Duration.ofSeconds(60);

    static ContractStore of(Map<String, String> properties) {
        RedisSettings settings = RedisSettings.read(new TestConfig(properties), false);
        if (!settings.problems().isEmpty()) {
            throw new AssertionError(settings.problems());
        }
        RedissonClient client = Redisson.create(settings.client().orElseThrow());
        String namespace = "test-" + UUID.randomUUID();
        ContractStore store = new ContractStore(
                client, new RedisClient(() -> UnexpiringClient.of(client), false, namespace, DEADLINE), namespace);
        // On Redis's clock.
        RateLimitBackend backend = store.backend(() -> 0);
        Await.until("the store decides", READY_WITHIN, () -> {
            try {
                return !backend.peek(TestStore.charge("k.ready", 1, FaultCalls.LIMIT))
                        .isEmpty();
            } catch (BackendException e) {
                return false;
            }
        });
        return store;
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
