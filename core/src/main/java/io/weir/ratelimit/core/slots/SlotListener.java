// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

/** A listener for the slots that running calls of this instance hold. It is called on any thread and must not fail or block. */
public interface SlotListener {
    SlotListener NONE = new SlotListener() {};

    /** Receives the number of slots that running calls hold, 0 or more. */
    default void held(String policy, int calls) {}

    /** Receives the loss of a slot of a call that still runs, because this instance did not renew it in time. */
    default void lost(String policy) {}
}
