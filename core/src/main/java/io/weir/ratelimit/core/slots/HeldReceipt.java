// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.policy.Overrides.Subject;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A receipt with slots that are not released. It does not keep the receipt in memory: if the application forgets the receipt, its slots
 * expire. Equal to another one of the same receipt.
 */
final class HeldReceipt extends WeakReference<Receipt> {
    private final int hash;

    /** The policies and keys whose slots the receipt has. */
    final List<Subject> slots;

    /** The shortest timeout of the slots. */
    final long timeoutNanos;

    /** The longest timeout of the slots. */
    final long longestNanos;

    /** Whether a slot was lost, so that the receipt is no longer renewed. */
    volatile boolean lost;

    HeldReceipt(
            Receipt receipt,
            ReferenceQueue<Receipt> unreachable,
            List<Subject> slots,
            long timeoutNanos,
            long longestNanos) {
        super(receipt, unreachable);
        this.hash = System.identityHashCode(receipt);
        this.slots = slots;
        this.timeoutNanos = timeoutNanos;
        this.longestNanos = longestNanos;
    }

    String policy() {
        return slots.isEmpty() ? "" : slots.get(0).policy();
    }

    long timeoutMillis() {
        return TimeUnit.NANOSECONDS.toMillis(timeoutNanos);
    }

    @Override
    public boolean equals(Object other) {
        if (this == other) {
            return true;
        }
        Receipt receipt = get();
        return other instanceof HeldReceipt that && receipt != null && that.refersTo(receipt);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
