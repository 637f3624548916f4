// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.runtime.HttpResource.Request;
import java.io.IOException;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The operations of the HTTP API. {@code openapi.json} describes them. */
final class Api {
    /** The path of the API below the console. */
    static final String ROOT = "/api/v1/";

    private final Supplier<Console> console;
    private final Clock clock;
    private final Audit audit;

    private final ChangesApi changes;
    private final Map<String, Operation> reads;
    private final Map<String, Operation> posts;

    /** An operation whose result is a JSON object. An invalid request is an {@link IllegalArgumentException}. */
    @FunctionalInterface
    interface Operation {
        Map<String, Object> result(Request request) throws IOException, PostedJson.RejectedException;
    }

    /** Creates the API with a look-up of the console, which a request has found before. */
    Api(Supplier<Console> console, Clock clock, Audit audit) {
        this.console = console;
        this.clock = clock;
        this.audit = audit;
        this.changes = new ChangesApi(this::operations, this::fleet, clock, audit);
        this.reads = Map.of(
                "instances",
                this::instances,
                "policies",
                request -> PoliciesView.of(fleet(), operations()),
                "callers",
                request -> callers().view(policy(request)),
                "history",
                request -> HistoryView.of(console().fleet().history().of(policy(request))),
                ChangesApi.PATH,
                changes::read);
        Map<String, Operation> byPath = new HashMap<>(changes.posts());
        byPath.put("callers/peek", this::peek);
        byPath.put("callers/reset", this::reset);
        byPath.putAll(new BlocksApi(this::operations, this::callers, changes, audit).posts());
        this.posts = Map.copyOf(byPath);
    }

    /** Returns the operations of {@code GET} by their paths below the root. */
    Map<String, Operation> reads() {
        return reads;
    }

    /** Returns the operations of {@code POST} by their paths below the root. */
    Map<String, Operation> posts() {
        return posts;
    }

    private Console console() {
        return console.get();
    }

    private Operations operations() {
        return console().operations();
    }

    private Fleet fleet() {
        return console().fleet().reader().read();
    }

    private FleetCallers callers() {
        return new FleetCallers(fleet(), operations());
    }

    private static Optional<String> policy(Request request) {
        return request.caller().queryParameter("policy");
    }

    private Map<String, Object> instances(Request request) {
        return InstancesView.of(fleet(), operations(), clock.instant());
    }

    private Map<String, Object> peek(Request request) throws IOException, PostedJson.RejectedException {
        return Lookup.peek(PostedJson.of(request), operations(), this::callers);
    }

    private Map<String, Object> reset(Request request) throws IOException, PostedJson.RejectedException {
        CallerOperations.Caller caller =
                Lookup.of(PostedJson.of(request), Set.of()).caller(operations(), this::callers);
        changes.checkReset(caller);
        return audit.reset(request.caller().principal(), caller, () -> {
            operations().reset(caller);
            return Map.of("policy", caller.policy(), "key", caller.key());
        });
    }
}
