// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;

/** The receipt of a slot that a call took in process, because the backend was unavailable. */
public record DegradedReceipt(BackendReceipt local) implements Receipt {
    @Override
    public boolean holdsSlots() {
        return true;
    }
}
