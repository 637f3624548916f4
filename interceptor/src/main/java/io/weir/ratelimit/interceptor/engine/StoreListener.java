// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.spi.BackendException;

/** Hears of the store's failures. What it throws is logged once and changes nothing. */
public interface StoreListener {
    /**
     * An operation failed.
     *
     * @param failure why
     */
    default void onError(BackendException failure) {}

    /**
     * The store stopped deciding, or decides again.
     *
     * @param change which of both
     */
    default void onChange(BackendStateChanged change) {}
}
