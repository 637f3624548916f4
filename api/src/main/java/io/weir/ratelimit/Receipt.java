// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

/**
 * What an admitted call carries so that exactly its charges can be given back, with {@link RateLimiter#refund(Receipt)}.
 *
 * <p>Giving back never makes more room than the charges took, has no effect once the window they were spent in has passed,
 * and counts once: a second use of the same receipt does nothing. A receipt holds only for the process it was made in. Its
 * content belongs to the backend.
 */
public interface Receipt {

    /** The receipt of a call that spent nothing, such as one that was let through without the shared store. */
    Receipt EMPTY = new Receipt() {
        @Override
        public String toString() {
            return "Receipt.EMPTY";
        }
    };
}
