// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static io.weir.ratelimit.redisson.client.RedisMessages.MESSAGES;

import io.weir.ratelimit.spi.BackendException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException;
import org.jspecify.annotations.Nullable;

/** The breaker of MicroProfile Fault Tolerance. It shows that it is open in one way only: it rejects a call. */
final class PlatformBreaker implements Breaker.Platform {
    private final RedisGuard guard;

    /** Whether an unexpected failure was logged. */
    private final AtomicBoolean failed = new AtomicBoolean();

    /** Linked only if the API is present, since it catches an exception of the API: see {@link Breaker.Platform#of}. */
    PlatformBreaker(RedisGuard guard) {
        this.guard = guard;
    }

    @Override
    public boolean report(@Nullable BackendException failure) {
        try {
            guard.call(failure);
        } catch (CircuitBreakerOpenException e) {
            return false;
        } catch (BackendException e) {
            return true;
        } catch (RuntimeException | LinkageError e) {
            if (failed.compareAndSet(false, true)) {
                MESSAGES.log(e, "WEIR-417");
            }
        }
        return true;
    }
}
