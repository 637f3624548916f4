// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;

/** A limiter, or what stands for one, on the keys of a {@link Workload}. For use by any number of threads. */
public interface Contender extends AutoCloseable {
    /** The name in the tables. */
    String name();

    /** Decides about a key, of cost 1, and waits for the answer. */
    Object decide(int key);

    /** Decides about a key, of cost 1, without waiting. */
    CompletionStage<?> decideAsync(int key);

    /** Whether an answer lets the call through. */
    boolean admitted(Object answer);

    /**
     * The permits that the store says were spent of a limit, summed over all keys.
     *
     * @return empty if the contender does not tell
     * @throws IllegalStateException if the limits of a decision differ in it
     */
    default OptionalLong spent() {
        return OptionalLong.empty();
    }

    /** Ends what the contender made for itself, not the client it was given. */
    @Override
    default void close() {}
}
