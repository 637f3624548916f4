// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.spi.BackendException;
import java.util.function.Consumer;

/** A listener for failures and state changes of the backend. An exception of a listener is logged once and has no other effect. */
public interface BackendStateListener {
    /** Reports that an operation of the backend failed. */
    default void onError(BackendException failure) {}

    /** Reports that the backend became unavailable or available. */
    default void onChange(BackendStateChanged change) {}

    static BackendStateListener ofChanges(Consumer<BackendStateChanged> observer) {
        return new BackendStateListener() {
            @Override
            public void onChange(BackendStateChanged change) {
                observer.accept(change);
            }
        };
    }
}
