// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.changes;

import io.weir.ratelimit.spi.ChangeStore;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The state of the changes as one instance knows it.
 *
 * @param state the last state that was accepted
 * @param storeTag the tag of the value in the store, which differs from that of the state if the value is ignored
 * @param read the time of the store at its last answer; empty before the first one
 * @param readNanos the monotonic time of that answer
 * @param problem the reason why the value in the store is ignored; empty if it is the state
 * @param replaceable whether the next change may replace the value in the store
 */
record KnownChanges(
        ChangeState state,
        String storeTag,
        Optional<Instant> read,
        long readNanos,
        Optional<String> problem,
        boolean replaceable) {
    /** The knowledge of an instance before the first answer. */
    static final KnownChanges NONE =
            new KnownChanges(ChangeState.EMPTY, ChangeStore.NO_TAG, Optional.empty(), 0, Optional.empty(), true);

    /** Returns the time of the store. It goes on while the store does not answer. */
    Instant now(long nanos) {
        return read.map(instant -> instant.plusNanos(nanos - readNanos)).orElse(Instant.EPOCH);
    }

    /** Returns the instant of the next change, which is not before that of the state. */
    Instant next(long nanos) {
        Instant now = now(nanos);
        return now.isBefore(state.written()) ? state.written() : Instant.ofEpochMilli(now.toEpochMilli());
    }

    /** Returns the state after an answer of the store. Contents of any origin can be in the store. */
    KnownChanges after(ChangeStore.Stored stored, ChangeCodec codec, long nanos) {
        Optional<Instant> time = Optional.of(stored.time());
        if (stored.foreign()) {
            return ignoring(stored, nanos, "the value is not a state of runtime changes", false);
        }
        if (stored.tag().equals(ChangeStore.NO_TAG)) {
            return state.number() == 0
                    ? new KnownChanges(state, stored.tag(), time, nanos, Optional.empty(), true)
                    : ignoring(stored, nanos, "the backend has lost the state", true);
        }
        if (stored.state().isEmpty()) {
            return new KnownChanges(state, storeTag, time, nanos, problem, replaceable);
        }
        try {
            ChangeState next = codec.decodeState(stored.state().get());
            return isOlder(next)
                    ? ignoring(stored, nanos, "the state is older than the known one", true)
                    : new KnownChanges(next, stored.tag(), time, nanos, Optional.empty(), true);
        } catch (UntrustedChangesException e) {
            return ignoring(stored, nanos, String.valueOf(e.getMessage()), false);
        }
    }

    /** The numbers start again after a loss of the store, so only those of one instant are compared. */
    private boolean isOlder(ChangeState next) {
        int order = next.written().compareTo(state.written());
        return order < 0 || (order == 0 && next.number() < state.number());
    }

    private KnownChanges ignoring(ChangeStore.Stored stored, long nanos, String reason, boolean mayReplace) {
        return new KnownChanges(
                state, stored.tag(), Optional.of(stored.time()), nanos, Optional.of(reason), mayReplace);
    }

    /** Returns what is known after this instance has replaced the state. */
    KnownChanges replaced(ChangeState next) {
        return new KnownChanges(next, next.tag(), read, readNanos, Optional.empty(), true);
    }

    PolicyValues values(long nanos) {
        return new PolicyValues(state.policies(now(nanos)));
    }

    Map<RuntimeChange.Subject, RuntimeChange> overrides(long nanos) {
        return state.overrides(now(nanos));
    }

    /** Returns the changes that have not ended, by number. */
    Map<Long, RuntimeChange> current(long nanos) {
        Map<Long, RuntimeChange> current = new LinkedHashMap<>();
        state.current(now(nanos)).forEach(change -> current.put(change.number(), change));
        return current;
    }
}
