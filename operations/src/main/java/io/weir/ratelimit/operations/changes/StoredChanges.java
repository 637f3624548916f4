// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.spi.BackendException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The state of the changes in the store, with the last state that this instance knows. */
public final class StoredChanges {
    /** The longest wait for the store. */
    static final Duration MAX_WAIT = Duration.ofSeconds(1);

    private final ChangeStore store;
    private final boolean shared;
    private final ChangeCodec codec;
    private final LongSupplier nanos;
    private final Clock clock;
    private volatile KnownChanges known = KnownChanges.NONE;

    /**
     * Creates a state that is not read yet. The clock of this instance decides after a step of that of the store, which all instances can
     * share.
     */
    public StoredChanges(ChangeStore store, boolean shared, ChangeCodec codec, LongSupplier nanos, Clock clock) {
        this.store = store;
        this.shared = shared;
        this.codec = codec;
        this.nanos = nanos;
        this.clock = clock;
    }

    boolean isShared() {
        return shared;
    }

    KnownChanges known() {
        return known;
    }

    long nanos() {
        return nanos.getAsLong();
    }

    /**
     * Reads the state. An answer that is older than a change of this instance is dropped. Throws a {@link RateLimitUnavailableException} if
     * the store does not answer.
     */
    void read(Duration longest) {
        KnownChanges before = known;
        ChangeStore.Stored stored = answer(() -> store.read(before.storeTag()), longest);
        accept(before, before.after(stored, codec, nanos(), clock.instant()));
    }

    @SuppressWarnings("ReferenceEquality") // another object is another answer
    private synchronized void accept(KnownChanges before, KnownChanges after) {
        if (known == before) {
            known = after;
        }
    }

    @SuppressWarnings("ReferenceEquality") // another object is a later answer, which can contain the change
    private synchronized void accept(KnownChanges seen, ChangeState made) {
        if (known == seen || !known.isOlder(made)) {
            known = known.replaced(made);
        }
    }

    /**
     * Returns the state that an operator has seen.
     *
     * @throws ChangeConflictException if the state has another tag
     * @throws InvalidChangeException if the store has a value that must not be replaced
     */
    KnownChanges seen(String tag) throws ChangeConflictException, InvalidChangeException {
        if (known.read().isEmpty() || !known.state().tag().equals(tag)) {
            read(MAX_WAIT);
        }
        KnownChanges seen = known;
        if (!seen.state().tag().equals(tag)) {
            throw new ChangeConflictException();
        }
        if (!seen.replaceable()) {
            throw new InvalidChangeException(List.of(MESSAGES.problem(
                    "WEIR-449.store", "store", "", seen.problem().orElse(""))));
        }
        return seen;
    }

    /**
     * Replaces a state by the next one.
     *
     * @throws ChangeConflictException if another change was made
     * @throws InvalidChangeException if the next state is too large
     */
    void replace(KnownChanges seen, ChangeState next, RuntimeChange entry)
            throws ChangeConflictException, InvalidChangeException {
        byte[] state;
        byte[] line;
        try {
            state = codec.encode(next);
            line = codec.encode(entry);
        } catch (IllegalArgumentException e) {
            throw new InvalidChangeException(
                    List.of(MESSAGES.problem("WEIR-449.size", "store", "", String.valueOf(e.getMessage()))));
        }
        if (!answer(() -> store.replace(seen.storeTag(), state, line), MAX_WAIT)) {
            readOther();
            throw new ChangeConflictException();
        }
        accept(seen, next);
    }

    /** Reads the state that another change has made. If the store does not answer, a later run reads it. */
    private void readOther() {
        try {
            read(MAX_WAIT);
        } catch (RateLimitUnavailableException e) {
            // The result is known: nothing was changed.
        }
    }

    /** Returns the readable ones of the last entries of the log, the latest first. */
    List<RuntimeChange> log(int count) {
        List<RuntimeChange> entries = new ArrayList<>();
        for (byte[] entry : answer(() -> store.log(count), MAX_WAIT)) {
            try {
                entries.add(codec.decodeEntry(entry));
            } catch (UntrustedChangesException e) {
                // Everyone who can write to the store can add such an entry.
            }
        }
        return List.copyOf(entries);
    }

    private static <T> T answer(Supplier<CompletionStage<T>> call, Duration longest) {
        try {
            return call.get().toCompletableFuture().get(longest.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RateLimitUnavailableException(BackendException.Reason.TIMEOUT.tag());
        } catch (TimeoutException e) {
            throw new RateLimitUnavailableException(BackendException.Reason.TIMEOUT.tag());
        } catch (ExecutionException | RuntimeException e) {
            throw unavailable(e);
        }
    }

    private static RateLimitUnavailableException unavailable(Exception failure) {
        Throwable cause = failure;
        while ((cause instanceof ExecutionException || cause instanceof CompletionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof BackendException backend
                ? new RateLimitUnavailableException(backend.reason().tag(), backend.retryAfter())
                : new RateLimitUnavailableException(BackendException.Reason.BACKEND_ERROR.tag());
    }
}
