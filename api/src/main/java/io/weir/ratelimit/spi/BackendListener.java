// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/**
 * A listener for events of a shared backend.
 *
 * <p>Methods are called on any thread, including those of the client of the backend, and concurrently. They must be fast, must not block
 * and must not throw exceptions, because requests wait for them.
 */
@FunctionalInterface
public interface BackendListener {
    /**
     * Reports that a batch is sent: one call of the backend with one or more acquire requests.
     *
     * @param requests the number of requests in the batch, 1 or more
     * @param queuedKeys the number of stored keys in the queue after the batch left it, 0 or more
     */
    void onBatch(int requests, int queuedKeys);

    /**
     * Reports the reply to a batch. A batch that failed, or that got no reply, is not reported.
     *
     * @param nanos the time between sending the batch and receiving the reply, in nanoseconds, 0 or more
     */
    default void onReply(long nanos) {}

    /**
     * Reports that the breaker opened or closed. Called once per change, in order.
     *
     * @param open whether the breaker is open from now on, so that the backend is not called
     */
    default void onBreakerChange(boolean open) {}

    /**
     * Reports a new number of keys for which this instance holds a lease.
     *
     * @param leases the number of keys, 0 or more
     */
    default void onLeaseCount(int leases) {}
}
