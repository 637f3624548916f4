// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.spi.BackendException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A store for runtime changes: one state that all instances read, and a log of the last changes. The first line of a state is its tag
 * {@code <number>-<milliseconds>}, where each state has the next number. A state is replaced only if its tag is the expected one, so two
 * operators cannot overwrite each other's changes.
 *
 * <p>Methods return at once. A stage completes with a {@link BackendException} if the store does not answer, or if it is not called because
 * a breaker is open. A write is never sent twice. Contents are opaque to the store, and readers do not trust them.
 */
public interface ChangeStore {
    int MAX_STATE_BYTES = 262_144;

    int MAX_ENTRY_BYTES = 8_192;

    /** The greatest number of entries of the log. Older entries are removed. */
    int MAX_ENTRIES = 1_000;

    /** The tag of a store without a state. */
    String NO_TAG = "";

    /** Reads the state if its tag is not the last known one, which is {@link #NO_TAG} if none is known. */
    CompletionStage<Stored> read(String knownTag);

    /**
     * Replaces the state and adds an entry to the log, in one atomic step, if the state has the expected tag.
     *
     * @param expectedTag the tag of the state that is replaced, {@link #NO_TAG} for no state and for a value that cannot be one
     * @param state 1 to {@value #MAX_STATE_BYTES} bytes, whose first line is a tag
     * @param entry 1 to {@value #MAX_ENTRY_BYTES} bytes
     */
    CompletionStage<Boolean> replace(String expectedTag, byte[] state, byte[] entry);

    /** Returns at most so many entries of the log, 1 to {@value #MAX_ENTRIES}, the latest first. */
    CompletionStage<List<byte[]>> log(int count);

    /**
     * A result of reading.
     *
     * @param tag the tag of the state, {@link #NO_TAG} if there is none or if its place has a value that cannot be a state
     * @param state the state; empty if its tag is known or if there is none
     * @param foreign whether the place of the state has a value that cannot be a state
     */
    record Stored(Instant time, String tag, Optional<byte[]> state, boolean foreign) {}
}
