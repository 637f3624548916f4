// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.runtime.HttpResource;
import java.io.IOException;
import java.time.Clock;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The console over HTTP. It changes state only for {@code POST} requests from its own page. */
final class ConsoleResource implements HttpResource {
    private static final String READ_METHODS = "GET, HEAD, ";
    private static final String POST_METHOD = "POST, ";

    private final Supplier<Console> consoles;
    private final Audit audit;
    private final AccessCheck accessCheck;
    private volatile @Nullable Console console;
    private final Api api;

    /**
     * Creates the resource. It looks up the console at the first request, because some servers create the resource before the deployment
     * has ended.
     */
    ConsoleResource(Supplier<Console> consoles, Clock clock, LongSupplier nanoTime) {
        this.consoles = consoles;
        this.audit = new Audit(nanoTime);
        this.accessCheck = new AccessCheck(audit, () -> console().logins());
        this.api = new Api(this::console, clock, audit);
    }

    @Override
    public Optional<Answer> answer(Request request) throws IOException {
        Access access;
        try {
            access = operations().access();
        } catch (RuntimeException e) {
            audit.failed(e);
            return Optional.of(Answer.error(404));
        }
        AccessCheck.Result result = accessCheck.of(access, request);
        if (result.allowed()) {
            result = changeCheck(request);
        }
        return result.allowed() ? Optional.of(respond(request)) : result.answer();
    }

    /** Checks that the request changes nothing, or that its user may make changes. */
    private AccessCheck.Result changeCheck(Request request) throws IOException {
        return !(request.method().equals("POST") && ChangesApi.needsRole(name(request.path())))
                        || operations().changes().isEmpty()
                ? AccessCheck.Result.ALLOWED
                : accessCheck.ofChanges(operations().changesRole(), request);
    }

    /** Returns the path below the root of the API; empty for other paths. */
    private static String name(String path) {
        return path.startsWith(Api.ROOT) ? path.substring(Api.ROOT.length()) : "";
    }

    private Answer respond(Request request) throws IOException {
        String path = request.path();
        String name = name(path);
        boolean served = !ChangesApi.has(name) || operations().changes().isPresent();
        Api.Operation read = served ? api.reads().get(name) : null;
        Api.Operation post = served ? api.posts().get(name) : null;
        Optional<Answer> asset = Assets.at(path);
        if (read == null && post == null && asset.isEmpty() && !path.isEmpty()) {
            return ConsoleResponse.problem(404, "This path does not exist.");
        }
        String methods =
                (read == null && post != null ? "" : READ_METHODS) + (post == null ? "" : POST_METHOD) + "OPTIONS";
        if (request.method().equals("OPTIONS")) {
            return ConsoleResponse.allows(204, methods);
        }
        if (!Set.of(methods.split(", ")).contains(request.method())) {
            return ConsoleResponse.allows(405, methods);
        }
        if (path.isEmpty()) {
            return ConsoleResponse.movedTo("ratelimit/");
        }
        return asset.isPresent()
                ? asset.get()
                : live(Objects.requireNonNull(request.method().equals("POST") ? post : read), request);
    }

    private Answer live(Api.Operation operation, Request request) throws IOException {
        try {
            return ConsoleResponse.json(200, operation.result(request));
        } catch (PostedJson.RejectedException e) {
            if (e.status() == 403) {
                audit.rejectedOrigin();
            }
            return ConsoleResponse.json(e.status(), e.body());
        } catch (IllegalArgumentException e) {
            return ConsoleResponse.problem(400, String.valueOf(e.getMessage()));
        } catch (RateLimitUnavailableException e) {
            return ConsoleResponse.problem(
                    503,
                    "The backend is unavailable: " + e.reason()
                            + ". The result of a change of the caller is unknown; the change can be repeated.");
        } catch (RuntimeException e) {
            audit.failed(e);
            return ConsoleResponse.problem(500, "The request failed. The log has the cause: WEIR-505.");
        }
    }

    private Operations operations() {
        return console().operations();
    }

    private Console console() {
        Console found = console;
        if (found == null) {
            found = consoles.get();
            console = found;
        }
        return found;
    }
}
