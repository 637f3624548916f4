// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException;
import org.jspecify.annotations.Nullable;

/** The server's breaker, which tells that it is open in one way only: by refusing to be told of a call. */
final class PlatformBreaker implements Breaker.Platform {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final RedisGuard guard;
    private final AtomicBoolean failed = new AtomicBoolean();

    /** Linked only where there is the API, whose exception it catches: see {@link Breaker.Platform#of}. */
    PlatformBreaker(RedisGuard guard) {
        this.guard = guard;
    }

    @Override
    public boolean takes(@Nullable BackendException failure) {
        try {
            guard.call(failure);
        } catch (CircuitBreakerOpenException e) {
            return false;
        } catch (BackendException e) {
            return true;
        } catch (RuntimeException | LinkageError e) {
            if (failed.compareAndSet(false, true)) {
                LOG.log(
                        Level.WARNING,
                        "WEIR-417 the breaker of MicroProfile Fault Tolerance fails; Weir''s own goes on alone",
                        e);
            }
        }
        return true;
    }
}
