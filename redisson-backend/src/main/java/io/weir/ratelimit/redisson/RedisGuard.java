// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendException;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.temporal.ChronoUnit;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.jspecify.annotations.Nullable;

/**
 * The circuit breaker in front of Redis on servers with MicroProfile Fault Tolerance. Five failed calls in a row open it.
 * Then probes show when Redis is available again.
 *
 * <p>The names of this class and its method are public: with them the properties of MicroProfile Fault Tolerance configure the breaker,
 * such as {@code io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/delay}. Applications do not call the method.
 */
@ApplicationScoped
public class RedisGuard {
    /**
     * Reports the outcome of a call to Redis to the breaker. The method is synchronous, since on some servers the breaker sees no failure
     * of a method that returns a stage. It is called after the call to Redis, so that successful calls do not pay for it.
     *
     * <p>The unit of the delay is the millisecond, since Payara reads each delay in milliseconds, whatever its unit.
     *
     * @param failure the failure of the call, null if it succeeded
     * @throws BackendException the failure
     */
    @CircuitBreaker(
            requestVolumeThreshold = 5,
            failureRatio = 1,
            delay = 30_000,
            delayUnit = ChronoUnit.MILLIS,
            successThreshold = 1)
    public void call(@Nullable BackendException failure) {
        if (failure != null) {
            throw failure;
        }
    }
}
