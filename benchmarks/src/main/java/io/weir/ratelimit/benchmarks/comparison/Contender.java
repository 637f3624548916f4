// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;

/** A limiter on the keys of a {@link Workload}. Implementations are thread-safe. */
public interface Contender extends AutoCloseable {
    /** Returns the name in the tables. */
    String name();

    /** Decides a call with a cost of 1 and waits for the result. */
    Object decide(int key);

    /** Decides a call with a cost of 1 asynchronously. */
    CompletionStage<?> decideAsync(int key);

    /** Returns whether a result allows the call. */
    boolean allowed(Object result);

    /**
     * Returns the spent permits of a limit in Redis, as the sum over all keys.
     *
     * @return the permits; empty if they are unknown
     * @throws IllegalStateException if the limits of a decision have different sums
     */
    default OptionalLong spent() {
        return OptionalLong.empty();
    }

    /**
     * Returns whether the contender decides from permits in memory that Redis does not know as spent calls: several instances then allow
     * more calls than the limit, or fewer.
     */
    default boolean holdsPermits() {
        return false;
    }

    /** Releases the resources of the contender, except the shared client. */
    @Override
    default void close() {}
}
