// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

import io.weir.ratelimit.Receipt;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Releases and renews slots without waiting, also those that calls took in process. */
public interface SlotBackend {
    /** Releases the slots of a receipt. */
    CompletionStage<Void> release(Receipt receipt);

    /** Renews the slots of receipts. Completes with the receipts that have lost a slot; with none after a failure. */
    CompletionStage<List<Receipt>> renew(List<Receipt> receipts);
}
