// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.operations.Operations;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletConfig;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The servlet of the console. It changes state only for {@code POST} requests from its own page. */
final class ConsoleServlet implements Servlet {
    private static final String READ_METHODS = "GET, HEAD, ";
    private static final String POST_METHOD = "POST, ";

    private final Supplier<Console> consoles;
    private final Audit audit;
    private final AccessCheck accessCheck;
    private @Nullable ServletConfig config;
    private volatile @Nullable Console console;
    private final Api api;

    /**
     * Creates the servlet.
     *
     * @param consoles looks up the console at the first request, because some servers create the servlet before the deployment has ended
     * @param clock the time of day
     * @param nanoTime a monotonic clock
     */
    ConsoleServlet(Supplier<Console> consoles, Clock clock, LongSupplier nanoTime) {
        this.consoles = consoles;
        this.audit = new Audit(nanoTime);
        this.accessCheck = new AccessCheck(audit, () -> console().logins());
        this.api = new Api(this::console, clock, audit);
    }

    @Override
    public void service(ServletRequest anyRequest, ServletResponse anyResponse) throws IOException {
        HttpServletRequest request = (HttpServletRequest) anyRequest;
        HttpServletResponse response = (HttpServletResponse) anyResponse;
        Access access;
        try {
            access = operations().access();
        } catch (RuntimeException e) {
            audit.failed(e);
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return;
        }
        if (accessCheck.allows(access, request, response) && allowsChange(request, response)) {
            respond(request).sendTo(response, !request.getMethod().equals("HEAD"));
        }
    }

    /** Returns whether the request changes nothing, or whether its user may make changes. If not, the response is already written. */
    private boolean allowsChange(HttpServletRequest request, HttpServletResponse response) throws IOException {
        return !(request.getMethod().equals("POST") && ChangesApi.needsRole(name(path(request))))
                || operations().changes().isEmpty()
                || accessCheck.allowsChanges(operations().changesRole(), request, response);
    }

    private static String path(HttpServletRequest request) {
        return Optional.ofNullable(request.getPathInfo()).orElse("");
    }

    /** Returns the path below the root of the API; empty for other paths. */
    private static String name(String path) {
        return path.startsWith(Api.ROOT) ? path.substring(Api.ROOT.length()) : "";
    }

    private ConsoleResponse respond(HttpServletRequest request) throws IOException {
        String path = path(request);
        String name = name(path);
        boolean served = !ChangesApi.has(name) || operations().changes().isPresent();
        Api.Operation read = served ? api.reads().get(name) : null;
        Api.Operation post = served ? api.posts().get(name) : null;
        Optional<ConsoleResponse> asset = Assets.at(path);
        if (read == null && post == null && asset.isEmpty() && !path.isEmpty()) {
            return ConsoleResponse.problem(404, "This path does not exist.");
        }
        String methods =
                (read == null && post != null ? "" : READ_METHODS) + (post == null ? "" : POST_METHOD) + "OPTIONS";
        if (request.getMethod().equals("OPTIONS")) {
            return ConsoleResponse.allows(204, methods);
        }
        if (!Set.of(methods.split(", ")).contains(request.getMethod())) {
            return ConsoleResponse.allows(405, methods);
        }
        if (path.isEmpty()) {
            return ConsoleResponse.movedTo("ratelimit/");
        }
        return asset.isPresent()
                ? asset.get()
                : live(Objects.requireNonNull(request.getMethod().equals("POST") ? post : read), request);
    }

    private ConsoleResponse live(Api.Operation operation, HttpServletRequest request) throws IOException {
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

    @Override
    public void init(ServletConfig given) {
        config = given;
    }

    @Override
    public @Nullable ServletConfig getServletConfig() {
        return config;
    }

    @Override
    public String getServletInfo() {
        return "the console of Weir";
    }

    @Override
    public void destroy() {}
}
