// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.core.operations.ChangeStore;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A store in memory, for a backend that instances do not share. Its changes end with the application. */
public final class LocalChangeStore implements ChangeStore {
    private final InstantSource clock;
    private final Deque<byte[]> entries = new ArrayDeque<>();
    private byte @Nullable [] state;
    private String tag = NO_TAG;

    /** Creates an empty store. */
    public LocalChangeStore(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public synchronized CompletionStage<Stored> read(String knownTag) {
        return CompletableFuture.completedFuture(new Stored(
                clock.instant(), tag, tag.equals(knownTag) ? Optional.empty() : Optional.ofNullable(state), false));
    }

    @Override
    public synchronized CompletionStage<Boolean> replace(String expectedTag, byte[] next, byte[] entry) {
        if (!tag.equals(expectedTag)) {
            return CompletableFuture.completedFuture(false);
        }
        state = next.clone();
        String text = new String(next, UTF_8);
        tag = text.substring(0, text.indexOf('\n'));
        entries.addFirst(entry.clone());
        if (entries.size() > MAX_ENTRIES) {
            entries.removeLast();
        }
        return CompletableFuture.completedFuture(true);
    }

    @Override
    public synchronized CompletionStage<List<byte[]>> log(int count) {
        return CompletableFuture.completedFuture(
                entries.stream().limit(count).map(byte[]::clone).toList());
    }
}
