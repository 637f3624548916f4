// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Receipt;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * The capability of a {@link RateLimitBackend} to hold the slots of {@linkplain Limit#concurrency concurrency limits}. Such a backend also
 * {@linkplain RateLimitBackend#supports supports} these limits.
 */
public interface HoldsSlots {
    /**
     * Releases the slots of a receipt, without blocking the thread. Other limits keep their charges. A slot is free once: a second release,
     * a release after a {@linkplain RateLimitBackend#refund(Receipt) refund}, which releases the slots as well, or after the slot has
     * expired has no effect on the slots of other calls. A release that failed can be tried again.
     *
     * @param receipt a receipt of this backend, or {@link Receipt#EMPTY}
     * @return a stage that completes after the release with true, with false if the receipt has lost a slot, because it had expired or was
     *     released before and its key no longer has it, or with a {@link BackendException}
     */
    CompletionStage<Boolean> release(Receipt receipt);

    /**
     * Renews the slots of receipts, so that they expire one timeout from now, without blocking the thread. An expired or released slot is
     * not taken again.
     *
     * @param receipts receipts of this backend, all with slots
     * @return a stage that completes with those of the receipts that have lost a slot, because it had expired and its key no longer has it,
     *     or with a {@link BackendException}
     */
    CompletionStage<List<Receipt>> renew(List<Receipt> receipts);
}
