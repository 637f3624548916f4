// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.console.PostedJson.RejectedException;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.changes.ChangeConflictException;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.ChangeUnsentException;
import io.weir.ratelimit.operations.changes.InvalidChangeException;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.runtime.HttpResource.Request;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The operations of the HTTP API on runtime changes. {@link ConsoleResource} has checked the role of the user for each {@code POST}. */
final class ChangesApi {
    /** The path below the root of the API. */
    static final String PATH = "changes";

    private static final int MAX_LOG = 1_000;

    private final Supplier<Operations> operations;
    private final Supplier<Fleet> fleet;
    private final Clock clock;
    private final Audit audit;

    ChangesApi(Supplier<Operations> operations, Supplier<Fleet> fleet, Clock clock, Audit audit) {
        this.operations = operations;
        this.fleet = fleet;
        this.clock = clock;
        this.audit = audit;
    }

    /** Tests whether a path below the root of the API is one of changes. */
    static boolean has(String name) {
        return name.equals(PATH) || name.startsWith(PATH + "/");
    }

    /** Tests whether a {@code POST} to a path below the root needs the role for changes, if changes are enabled. */
    static boolean needsRole(String name) {
        return has(name) || name.equals("callers/block") || name.equals("callers/unblock");
    }

    /** Rejects a block without a change. */
    void checkBlock(CallerOperations.Caller caller) throws RejectedException {
        if (operations.get().changes().isPresent()) {
            throw new RejectedException(409, "Runtime changes are enabled. Block the key by a change.");
        }
    }

    /** Rejects what ends a block that an active change makes: the block would still be listed, and its end needs the role for changes. */
    void checkNotBlocked(CallerOperations.Caller caller) throws RejectedException {
        Optional<RuntimeChanges> changes = operations.get().changes();
        if (changes.isEmpty()) {
            return;
        }
        RuntimeChange.Subject subject = new RuntimeChange.Subject(
                RuntimeChange.Kind.BLOCK,
                caller.policy(),
                Optional.of(operations.get().storedKey(caller)));
        for (RuntimeChange change : changes.get().view().active()) {
            if (change.subject().equals(subject)) {
                throw new RejectedException(409, "Change " + change.number() + " blocks this key. Undo the change.");
            }
        }
    }

    /** Rejects a reset that ends a block. With changes, the end of a block needs their role and a reason. */
    void checkReset(CallerOperations.Caller caller) throws RejectedException {
        checkNotBlocked(caller);
        if (operations.get().changes().isPresent()
                && operations.get().peek(caller, "").stream().anyMatch(Quota::blocked)) {
            throw new RejectedException(
                    409, "The key is blocked. Unblock it first, which requires the role of ratelimit.changes.role.");
        }
    }

    /** Returns the operations of {@code POST} by their paths below the root. */
    Map<String, Api.Operation> posts() {
        return Map.of(PATH, this::make, PATH + "/undo", this::undo, PATH + "/preview", this::preview);
    }

    /** Returns the state, and the last changes of the log on request. */
    Map<String, Object> read(Request request) {
        Map<String, Object> view = state(request);
        Optional<Integer> count = request.caller().queryParameter("log").map(ChangesApi::count);
        if (count.isPresent()) {
            Optional<List<Map<String, Object>>> log = Optional.empty();
            Optional<String> problem = Optional.empty();
            try {
                log = Optional.of(view().changes(changes().log(count.get()), clock.instant()));
            } catch (RateLimitUnavailableException e) {
                problem = Optional.of(e.reason());
            }
            view.put("log", log);
            view.put("logProblem", problem);
        }
        return view;
    }

    private Map<String, Object> make(Request request) throws RejectedException {
        Map<String, Object> fields = PostedJson.of(request);
        PostedChange posted = PostedChange.of(fields, Set.of("version", "reason"), operations.get(), this::callers);
        String author = author(request);
        String version = PostedChange.text(fields, "version");
        String reason = PostedChange.text(fields, "reason");
        ChangeRequest change = posted.by(author, reason);
        Map<String, Object> made =
                new LinkedHashMap<>(made(request, () -> changes().make(change, version)));
        made.put("warnings", changes().warnings(change));
        return made;
    }

    private Map<String, Object> undo(Request request) throws RejectedException {
        Map<String, Object> fields = PostedJson.of(request);
        PostedChange.checkNames(fields, Set.of("version", "number", "reason"));
        String number = PostedChange.text(fields, "number");
        if (!number.matches("[0-9]{1,15}")) {
            throw new IllegalArgumentException("number must be the number of a change, as a string");
        }
        String author = author(request);
        String version = PostedChange.text(fields, "version");
        String reason = PostedChange.text(fields, "reason");
        return made(request, () -> changes().undo(Long.parseLong(number), reason, author, version));
    }

    private Map<String, Object> preview(Request request) throws RejectedException {
        Fleet current = fleet.get();
        PostedChange posted = PostedChange.of(
                PostedJson.of(request), Set.of(), operations.get(), () -> new FleetCallers(current, operations.get()));
        return new ChangePreview(operations.get(), changes(), current).of(posted);
    }

    /** A call that makes a change. */
    @FunctionalInterface
    private interface Making {
        RuntimeChange change() throws InvalidChangeException, ChangeConflictException;
    }

    private Map<String, Object> made(Request request, Making making) throws RejectedException {
        try {
            RuntimeChange change = making.change();
            return Map.of("change", view().change(change));
        } catch (InvalidChangeException e) {
            throw new RejectedException(
                    422, "The change is invalid.", Map.of("problems", ChangesView.problems(e.problems())));
        } catch (ChangeConflictException e) {
            throw new RejectedException(
                    409,
                    "The changes have another version now. Read the current state, then decide whether to repeat the request.",
                    Map.of("state", state(request)));
        } catch (ChangeUnsentException e) {
            throw new RejectedException(
                    503, "The backend is unavailable: " + e.getMessage() + ". Nothing was changed.");
        } catch (RateLimitUnavailableException e) {
            audit.changeInDoubt(request.caller().principal(), e.reason());
            throw new RejectedException(
                    503,
                    "The backend is unavailable: " + e.reason()
                            + ". Whether the change was made is unknown. Read the state before you repeat the request.");
        }
    }

    private Map<String, Object> state(Request request) {
        boolean mayChange = operations
                .get()
                .changesRole()
                .filter(request.caller()::isInRole)
                .isPresent();
        return new LinkedHashMap<>(view().state(mayChange, clock.instant()));
    }

    private ChangesView view() {
        return new ChangesView(operations.get(), changes().view());
    }

    /** Returns the changes, which the resource has found enabled. */
    private RuntimeChanges changes() {
        return operations.get().changes().orElseThrow();
    }

    private FleetCallers callers() {
        return new FleetCallers(fleet.get(), operations.get());
    }

    private static int count(String text) {
        if (!text.matches("[0-9]{1,4}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > MAX_LOG) {
            throw new IllegalArgumentException("log must be a number from 1 to " + MAX_LOG);
        }
        return Integer.parseInt(text);
    }

    private static String author(Request request) {
        return request.caller().principal().orElse("");
    }
}
