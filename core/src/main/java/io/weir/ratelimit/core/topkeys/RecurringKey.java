// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import org.jspecify.annotations.Nullable;

/** A key of one policy that keeps its counter, so that its next call need not search for it. */
public final class RecurringKey {
    final String policy;
    final String storedKey;

    /** The counter of the last call; null if the key had none. A call checks that it is still valid. */
    volatile RecentKeys.@Nullable Place place;

    /** Creates a key without a counter. */
    public RecurringKey(String policy, String storedKey) {
        this.policy = policy;
        this.storedKey = storedKey;
    }
}
