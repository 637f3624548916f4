// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.Objects;

/**
 * A CDI event that reports that the backend has become unavailable or available.
 *
 * <p>The event is fired once per change, on the thread of a call. Synchronous observers receive the changes in order; observers with
 * {@code @ObservesAsync} receive them in any order. An exception of an observer has no effect on the call.
 *
 * @param backend the name of the backend, such as {@code redisson}
 * @param available whether the backend is available from now on
 * @param reason why the backend is unavailable: a {@linkplain RateLimitUnavailableException#reason() reason} such as
 *     {@code timeout} or {@code connection}; empty if the backend is available
 */
public record BackendStateChanged(String backend, boolean available, String reason) {
    /** Checks that no component is null. */
    public BackendStateChanged {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(reason, "reason");
    }
}
