// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

/**
 * The receipt of an allowed call, by which exactly its charges can be refunded with {@link RateLimiter#refund(Receipt)}, or settled with
 * {@link RateLimiter#settle(Receipt, long)}, and its slots can be released with {@link RateLimiter#release(Receipt)}.
 *
 * <p>A refund never returns more permits than the charges spent. It has no effect after the window of the charges has passed, and no
 * effect if the charges have been refunded before. A receipt is valid only in the process that created it. Its content is specific to the
 * backend.
 */
public interface Receipt {

    /** The receipt of a call that spent no permits, such as a call that was allowed without the shared backend. */
    Receipt EMPTY = new Receipt() {
        @Override
        public String toString() {
            return "Receipt.EMPTY";
        }
    };

    /**
     * Tests whether the call took a slot of a concurrency limit. Such a receipt is {@linkplain RateLimiter#release(Receipt) released} when
     * the call ends.
     *
     * @return true if the call took a slot, also after its release
     */
    default boolean holdsSlots() {
        return false;
    }
}
