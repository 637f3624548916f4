// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.temporal.ChronoUnit;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.jspecify.annotations.Nullable;

/**
 * The breaker in front of Redis, where the server has MicroProfile Fault Tolerance: five calls that fail in a row open it for 30
 * seconds, then one call finds out whether Redis is back.
 *
 * <p>The names of this class and its method are public: with them MicroProfile Fault Tolerance's own properties tune the breaker, such
 * as {@code io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/delay}. Applications do not call it.
 */
@ApplicationScoped
public class RedisGuard {
    /**
     * Tells the breaker how a call to Redis has ended. Synchronous, since on a method that returns a stage the breaker sees no
     * failure on all servers; and after the call, so that a call that goes well pays nothing for it.
     *
     * @param failure why it failed, null if it was answered
     * @throws BackendException the failure
     */
    @CircuitBreaker(
            requestVolumeThreshold = 5,
            failureRatio = 1,
            delay = 30,
            delayUnit = ChronoUnit.SECONDS,
            successThreshold = 1)
    public void call(@Nullable BackendException failure) {
        if (failure != null) {
            throw failure;
        }
    }
}
