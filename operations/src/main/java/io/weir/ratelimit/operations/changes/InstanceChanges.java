// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * The runtime changes of one instance. It reads the state of all instances at each run, and applies what has changed or ended since the
 * last one. If the store does not answer, the known changes stay in force until their ends.
 */
public final class InstanceChanges implements RuntimeChanges, Runnable {
    /** The number of changes in doubt that are kept. During an outage, a script can try to make many. */
    private static final int MAX_IN_DOUBT = 100;

    private final StoredChanges store;
    private final ChangeTarget target;
    private final ChangeCheck check;
    private final ChangeAudit audit;
    private final AppliedChanges applied;
    private final ChangedBlocks blocks;

    /** The last changes that the store has not confirmed. It can have recorded one of those with the same number. */
    private final Deque<InDoubt> inDoubt = new ConcurrentLinkedDeque<>();

    private record InDoubt(KnownChanges seen, ChangeState next, RuntimeChange change) {}

    /** Creates changes that are not read yet. */
    public InstanceChanges(StoredChanges store, ChangeTarget target, ChangeAudit audit) {
        this.store = store;
        this.target = target;
        this.check = new ChangeCheck(target);
        this.audit = audit;
        this.applied = new AppliedChanges(target, audit);
        this.blocks = new ChangedBlocks(target, audit);
    }

    /**
     * Reads the changes for the first time, until the deadline. If the store does not answer, the configuration applies until a later run.
     */
    public void start(Duration deadline) {
        try {
            store.read(deadline);
        } catch (RateLimitUnavailableException e) {
            audit.unread(e.reason());
        }
        applied.update(store);
    }

    /** Ends changes, and applies those that other instances have made. */
    @Override
    public void run() {
        applied.update(store);
        try {
            store.read(StoredChanges.MAX_WAIT);
        } catch (RateLimitUnavailableException e) {
            // The health of the backend reports the outage, and the known changes stay in force.
        }
        applied.update(store);
        complete();
    }

    /** Completes changes that the store has recorded without an answer: a listed block must block its key. */
    private void complete() {
        ChangeState state = store.known().state();
        for (Iterator<InDoubt> doubts = inDoubt.iterator(); doubts.hasNext(); ) {
            InDoubt doubt = doubts.next();
            if (state.number() >= doubt.change().number()) {
                doubts.remove();
                if (isRecorded(doubt, state)) {
                    complete(doubt);
                }
            }
        }
    }

    private void complete(InDoubt recorded) {
        RuntimeChange change = recorded.change();
        audit.made(change);
        Instant now = store.known().now(store.nanos());
        if (!change.isUndo() && !change.isEnded(now)) {
            try {
                blocks.make(change, now, recorded.seen().state());
            } catch (RateLimitUnavailableException e) {
                // The audit log has it.
            }
        }
    }

    /** Tests whether a state contains a change. An undo is not among the active changes, so it is known only as the last one. */
    private static boolean isRecorded(InDoubt last, ChangeState state) {
        RuntimeChange change = last.change();
        return change.isUndo()
                ? state.tag().equals(last.next().tag())
                : state.find(change.number()).filter(change::equals).isPresent();
    }

    @Override
    public View view() {
        KnownChanges known = store.known();
        List<RuntimeChange> active =
                new ArrayList<>(known.current(store.nanos()).values());
        Collections.reverse(active);
        return new View(
                store.isShared(),
                known.state().tag(),
                known.read(),
                active,
                applied.withoutPolicy(active),
                applied.notInForce(),
                known.problem());
    }

    @Override
    public List<ConfigurationProblem> problems(ChangeRequest request) {
        KnownChanges known = store.known();
        List<ConfigurationProblem> problems = check.ofForm(request);
        return problems.isEmpty() ? check.ofChange(known.state(), change(known, request)) : problems;
    }

    @Override
    public List<String> warnings(ChangeRequest request) {
        if (!check.ofForm(request).isEmpty()) {
            return List.of();
        }
        if (request.subject().kind() != Kind.POLICY) {
            return withoutEffect(request.subject()).stream().toList();
        }
        KnownChanges known = store.known();
        RuntimeChange change = change(known, request);
        return target.warnings(
                new PolicyValues(known.state().with(change).policies(change.at())),
                request.subject().policy());
    }

    /** Returns a warning if a change of a key has no effect, since the policy is off, or does not reject the calls of a blocked key. */
    private Optional<String> withoutEffect(RuntimeChange.Subject subject) {
        return subject.storedKey()
                .flatMap(key -> target.policy(subject.policy())
                        .filter(policy -> policy.rollout().mode() == Policy.Mode.OFF
                                || (subject.kind() == Kind.BLOCK && policy.isShadowFor(key))))
                .map(policy -> MESSAGES.message(
                                "WEIR-015.key",
                                subject.kind().name().toLowerCase(Locale.ROOT),
                                ConfigKeys.MODE.name().replace("<p>", policy.name()))
                        .text());
    }

    @Override
    public RuntimeChange make(ChangeRequest request, String expectedTag)
            throws InvalidChangeException, ChangeConflictException {
        KnownChanges seen = seen(expectedTag);
        reject(check.ofForm(request));
        RuntimeChange change = change(seen, request);
        reject(check.ofChange(seen.state(), change));
        return make(seen, change);
    }

    private RuntimeChange change(KnownChanges seen, ChangeRequest request) {
        Instant at = seen.next(store.nanos());
        return new RuntimeChange(
                seen.state().number() + 1,
                request.subject(),
                request.values(),
                before(seen, request.subject(), request.values()),
                ChangeAudit.author(request.author()),
                request.reason(),
                at,
                request.until(at),
                OptionalLong.empty());
    }

    /** Returns the state that an operator has seen, and applies what was read meanwhile. */
    private KnownChanges seen(String tag) throws InvalidChangeException, ChangeConflictException {
        try {
            return store.seen(tag);
        } catch (RateLimitUnavailableException e) {
            throw new ChangeUnsentException(e.reason());
        } finally {
            applied.update(store);
        }
    }

    private void record(KnownChanges seen, ChangeState next, RuntimeChange change)
            throws InvalidChangeException, ChangeConflictException {
        try {
            store.replace(seen, next, change);
        } catch (ChangeConflictException e) {
            applied.update(store);
            throw e;
        } catch (RateLimitUnavailableException e) {
            if (isUnsent(change, e)) {
                throw new ChangeUnsentException(e.reason());
            }
            keep(new InDoubt(seen, next, change));
            throw e;
        }
        audit.made(change);
        applied.updateByOwn(store, change);
    }

    private void keep(InDoubt doubt) {
        inDoubt.removeIf(known -> known.change().equals(doubt.change()));
        inDoubt.add(doubt);
        if (inDoubt.size() > MAX_IN_DOUBT) {
            inDoubt.poll();
        }
    }

    /** Tests whether nothing is changed. The undo of a block has unblocked the key before. */
    private static boolean isUnsent(RuntimeChange change, RateLimitUnavailableException failure) {
        return isBreakerOpen(failure) && !(change.isUndo() && change.subject().kind() == Kind.BLOCK);
    }

    private static boolean isBreakerOpen(RateLimitUnavailableException failure) {
        return failure.reason().equals(BackendException.Reason.BREAKER_OPEN.tag());
    }

    /** Records a change before it blocks a key: a block that fails is listed, so the operator can undo or repeat it. */
    private RuntimeChange make(KnownChanges seen, RuntimeChange change)
            throws InvalidChangeException, ChangeConflictException {
        record(seen, seen.state().with(change), change);
        blocks.make(change, change.at(), seen.state());
        return change;
    }

    @Override
    public RuntimeChange undo(long number, String reason, String author, String expectedTag)
            throws InvalidChangeException, ChangeConflictException {
        KnownChanges seen = seen(expectedTag);
        reject(ChangeCheck.ofReason(reason));
        Instant at = seen.next(store.nanos());
        Optional<RuntimeChange> active = seen.state().find(number).filter(change -> !change.isEnded(at));
        if (active.isEmpty()) {
            return make(seen, again(seen, number, reason, author, at));
        }
        RuntimeChange undone = active.get();
        RuntimeChange undo = new RuntimeChange(
                seen.state().number() + 1,
                undone.subject(),
                Map.of(),
                undone.values(),
                ChangeAudit.author(author),
                reason,
                at,
                Optional.empty(),
                OptionalLong.of(number));
        reject(check.ofUndo(seen.state(), undo));
        end(seen, undone, undo);
        return undo;
    }

    /** Records the end of a change after it unblocks a key: a block that did not end stays listed, so the operator can repeat the undo. */
    private void end(KnownChanges seen, RuntimeChange undone, RuntimeChange undo)
            throws InvalidChangeException, ChangeConflictException {
        if (undone.subject().kind() == Kind.BLOCK) {
            reject(check.ofPolicy(undone.subject().policy()));
        }
        try {
            blocks.end(undone);
        } catch (RateLimitUnavailableException e) {
            throw isBreakerOpen(e) ? new ChangeUnsentException(e.reason()) : e;
        }
        try {
            record(seen, seen.state().after(undo), undo);
        } catch (ChangeConflictException e) {
            if (store.known().state().find(undone.number()).isPresent()) {
                blocks.restore(undone, undo.at());
            }
            throw e;
        }
    }

    /** Returns the change that an earlier undo ended, to be made again. */
    private RuntimeChange again(KnownChanges seen, long undo, String reason, String author, Instant at)
            throws InvalidChangeException {
        List<RuntimeChange> log = log(ChangeStore.MAX_ENTRIES);
        RuntimeChange undone = find(log, undo)
                .flatMap(entry -> entry.undoes().stream().boxed().findFirst())
                .flatMap(number -> find(log, number))
                .filter(change -> !change.isEnded(at))
                .filter(change -> !change.isUndo())
                .filter(change -> seen.state().active().stream()
                        .noneMatch(active -> active.undoes().equals(OptionalLong.of(undo))))
                .orElseThrow(() -> new InvalidChangeException(
                        List.of(MESSAGES.problem("WEIR-449.undo", "number", Long.toString(undo)))));
        ChangeRequest request = new ChangeRequest(undone.subject(), undone.values(), Optional.empty(), reason, author);
        reject(check.ofForm(request));
        RuntimeChange again = new RuntimeChange(
                seen.state().number() + 1,
                undone.subject(),
                undone.values(),
                before(seen, undone.subject(), undone.values()),
                ChangeAudit.author(author),
                reason,
                at,
                undone.until(),
                OptionalLong.of(undo));
        reject(check.ofChange(seen.state(), again));
        return again;
    }

    private static Optional<RuntimeChange> find(List<RuntimeChange> log, long number) {
        return log.stream().filter(entry -> entry.number() == number).findFirst();
    }

    private static void reject(List<ConfigurationProblem> problems) throws InvalidChangeException {
        if (!problems.isEmpty()) {
            throw new InvalidChangeException(problems);
        }
    }

    /** Returns the values that a change replaces. Those of a key are those of an earlier override, else those of the policy. */
    private Map<String, String> before(KnownChanges seen, RuntimeChange.Subject subject, Map<String, String> values) {
        Map<String, String> known = Optional.ofNullable(
                        seen.overrides(store.nanos()).get(subject))
                .map(RuntimeChange::values)
                .orElseGet(() -> target.values(subject.policy()));
        Map<String, String> before = new TreeMap<>();
        for (String attribute : values.keySet()) {
            String value = known.get(attribute);
            if (value != null) {
                before.put(attribute, ChangeCheck.storable(value));
            }
        }
        return before;
    }

    @Override
    public List<RuntimeChange> log(int count) {
        return store.log(count);
    }
}
