// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Requests as the backend creates them, with a deadline that no test reaches.
 *
 * @param keys the keys of a namespace
 * @param factory the factory of requests, whose cache is always empty
 */
public record AcquireRequests(RedisKeys keys, RequestFactory factory) {
    private static final long FAR_NANOS = TimeUnit.HOURS.toNanos(1);

    public static AcquireRequests in(String namespace) {
        RedisKeys keys = RedisKeys.of(namespace);
        return new AcquireRequests(keys, new RequestFactory(keys, RejectionCache.disabled(keys), late -> {}));
    }

    public AcquireRequest spend(String storedKey, long cost, Limit... limits) {
        return spend(List.of(TestBackend.charge(storedKey, cost, limits)));
    }

    public AcquireRequest spend(List<Charge> charges) {
        return create(charges, Operation.SPEND);
    }

    public AcquireRequest spend(Charge charge, long deadlineNanos) {
        return create(List.of(charge), Operation.SPEND, deadlineNanos);
    }

    public AcquireRequest peek(String storedKey, long cost, Limit... limits) {
        return create(List.of(TestBackend.charge(storedKey, cost, limits)), Operation.PEEK);
    }

    AcquireRequest create(List<Charge> charges, Operation operation) {
        return create(charges, operation, System.nanoTime() + FAR_NANOS);
    }

    AcquireRequest create(List<Charge> charges, Operation operation, long deadlineNanos) {
        return factory.create(charges, operation, deadlineNanos);
    }

    AcquireRequest probe(String storedKey, Limit limit) {
        return create(List.of(TestBackend.charge(storedKey, 1, limit)), Operation.PROBE);
    }
}
