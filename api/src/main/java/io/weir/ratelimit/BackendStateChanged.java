// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.Objects;

/**
 * A CDI event: the store stopped deciding, or decides again. It is fired once per change and not per call, on the thread of a
 * call. Observers hear changes in their order, those with {@code @ObservesAsync} in none. What an observer throws changes nothing.
 *
 * @param backend the store's name, such as {@code redisson}
 * @param available whether it decides from now on
 * @param reason why it stopped, from a small fixed set such as {@code timeout} or {@code connection}; empty if it decides
 */
public record BackendStateChanged(String backend, boolean available, String reason) {
    /** Checks that no component is null. */
    public BackendStateChanged {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(reason, "reason");
    }
}
