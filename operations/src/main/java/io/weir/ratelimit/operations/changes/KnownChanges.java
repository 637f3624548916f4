// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.core.operations.ChangeStore;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The state of the changes as one instance knows it.
 *
 * @param storeTag the tag of the value in the store, which differs from that of the state if the value is ignored
 * @param read the current time at the last answer of the store, usually that of the store; empty before the first one
 * @param readNanos the monotonic time of that answer
 * @param stepped whether the clock of this instance decides, because that of the store has stepped
 * @param problem the reason why the value in the store is ignored; empty if it is the state
 * @param replaceable whether the next change may replace the value in the store
 */
record KnownChanges(
        ChangeState state,
        String storeTag,
        Optional<Instant> read,
        long readNanos,
        boolean stepped,
        Optional<String> problem,
        boolean replaceable) {
    /** The knowledge of an instance before the first answer. */
    static final KnownChanges NONE =
            new KnownChanges(ChangeState.EMPTY, ChangeStore.NO_TAG, Optional.empty(), 0, false, Optional.empty(), true);

    private static final String LOST = "the backend has lost the state";

    /** The greatest difference between clocks that is not a step. */
    static final Duration MAX_DIFFERENCE = Duration.ofMinutes(5);

    /** How long after all clocks a state can be written. A later one would be newer than each change until then. */
    static final Duration MAX_AHEAD = Duration.ofDays(1);

    /** Tests whether the store has lost its data. */
    boolean isLost() {
        return problem.filter(LOST::equals).isPresent();
    }

    /** Returns the time of the store. It goes on while the store does not answer. */
    Instant now(long nanos) {
        return read.map(instant -> instant.plusNanos(nanos - readNanos)).orElse(Instant.EPOCH);
    }

    /** Returns the instant of the next change. */
    Instant next(long nanos) {
        return Instant.ofEpochMilli(now(nanos).toEpochMilli());
    }

    /**
     * Returns the state after an answer of the store, at a monotonic time and at a time of this instance. Contents of any origin can be in
     * the store.
     */
    KnownChanges after(ChangeStore.Stored stored, ChangeCodec codec, long nanos, Instant ofInstance) {
        Instant latest = stored.time().isAfter(ofInstance) ? stored.time() : ofInstance;
        KnownChanges next = after(stored, codec, latest.plus(MAX_AHEAD));
        boolean steps = read.isPresent()
                && Duration.between(now(nanos), stored.time()).abs().compareTo(MAX_DIFFERENCE) > 0;
        boolean beforeState = stored.time().isBefore(next.state.written().minus(MAX_DIFFERENCE));
        Instant time = steps || beforeState ? ofInstance : stored.time();
        return new KnownChanges(
                next.state,
                next.storeTag,
                Optional.of(time),
                nanos,
                steps || beforeState,
                next.problem,
                next.replaceable);
    }

    private KnownChanges after(ChangeStore.Stored stored, ChangeCodec codec, Instant latest) {
        if (stored.foreign()) {
            return ignoring(stored, "the value is not a state of runtime changes", false);
        }
        if (stored.tag().equals(ChangeStore.NO_TAG)) {
            return state.number() == 0 ? accepting(state, stored.tag()) : ignoring(stored, LOST, true);
        }
        if (stored.state().isEmpty()) {
            return this;
        }
        try {
            ChangeState next = codec.decodeState(stored.state().get());
            if (next.written().isAfter(latest)) {
                return ignoring(stored, "the state was written in the future", true);
            }
            return isOlder(next)
                    ? ignoring(stored, "the state is older than the known one", true)
                    : accepting(next, stored.tag());
        } catch (UntrustedChangesException e) {
            return ignoring(stored, String.valueOf(e.getMessage()), false);
        }
    }

    /** The numbers start again after a loss of the store, so only those of one instant are compared. */
    boolean isOlder(ChangeState next) {
        int order = next.written().compareTo(state.written());
        return order < 0 || (order == 0 && next.number() < state.number());
    }

    private KnownChanges ignoring(ChangeStore.Stored stored, String reason, boolean mayReplace) {
        return new KnownChanges(state, stored.tag(), read, readNanos, stepped, Optional.of(reason), mayReplace);
    }

    private KnownChanges accepting(ChangeState next, String tag) {
        return new KnownChanges(next.withSmallNumbers(), tag, read, readNanos, stepped, Optional.empty(), true);
    }

    /** Returns what is known after this instance has replaced the state. */
    KnownChanges replaced(ChangeState next) {
        return accepting(next, next.tag());
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
