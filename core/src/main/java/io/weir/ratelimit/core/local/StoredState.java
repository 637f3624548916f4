// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Limit;

/** The state of a key in a {@link Shard}, whose lock guards it. */
final class StoredState {
    final StateKey key;

    /** The limit of the latest charge. */
    Limit limit;

    LimitState state;

    /** An instant before which the state differs from an untouched one, in microseconds. */
    long dueMicros;

    StoredState(StateKey key, Limit limit, LimitState state) {
        this.key = key;
        this.limit = limit;
        this.state = state;
    }

    /** Returns the instant from which the state equals an untouched one, in microseconds. */
    long resetInstantMicros(long nowMicros) {
        return nowMicros + state.asOf(limit, nowMicros).resetAfterMicros(limit, nowMicros);
    }
}
