// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.interceptor.operate.Access;
import io.weir.ratelimit.interceptor.operate.Operations;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletConfig;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers the requests of the page, for those who may see it. Changes nothing but by {@code POST} of the page itself. */
final class ConsoleServlet implements Servlet {
    private static final String READING = "GET, HEAD, OPTIONS";
    private static final String POSTING = "POST, OPTIONS";

    private final Supplier<Console> consoles;
    private final Clock clock;
    private final Instant started;
    private final Audit audit;
    private final Doorkeeper doorkeeper;
    private @Nullable ServletConfig config;
    private volatile @Nullable Console found;
    private volatile @Nullable StateView view;

    /**
     * The servlet.
     *
     * @param consoles finds what is deployed, with the first request: some servers run this before the deployment has ended
     * @param clock the time of day
     * @param nanoTime a monotonic clock
     */
    ConsoleServlet(Supplier<Console> consoles, Clock clock, LongSupplier nanoTime) {
        this.consoles = consoles;
        this.clock = clock;
        this.started = clock.instant();
        this.audit = new Audit(nanoTime);
        this.doorkeeper = new Doorkeeper(audit);
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
        if (doorkeeper.admits(access, request, response)) {
            answer(request).sendTo(response, !request.getMethod().equals("HEAD"));
        }
    }

    private Answer answer(HttpServletRequest request) throws IOException {
        String path = Optional.ofNullable(request.getPathInfo()).orElse("");
        boolean posted = path.equals("/peek") || path.equals("/reset");
        Optional<Answer> asset = Assets.at(path);
        if (!posted && asset.isEmpty() && !path.isEmpty() && !path.equals("/state")) {
            return Answer.problem(404, "There is nothing here.");
        }
        String methods = posted ? POSTING : READING;
        if (request.getMethod().equals("OPTIONS")) {
            return Answer.allows(204, methods);
        }
        if (!Set.of(methods.split(", ")).contains(request.getMethod())) {
            return Answer.allows(405, methods);
        }
        if (path.isEmpty()) {
            return Answer.movedTo("ratelimit/");
        }
        return asset.isPresent() ? asset.get() : live(path, request);
    }

    private Answer live(String path, HttpServletRequest request) throws IOException {
        try {
            return switch (path) {
                case "/peek" -> Answer.json(200, Lookup.peek(PostedJson.of(request), operations()));
                case "/reset" -> reset(request);
                default -> Answer.json(200, view().at(clock.instant()));
            };
        } catch (PostedJson.Refused e) {
            if (e.status() == 403) {
                audit.refusedOrigin();
            }
            return Answer.problem(e.status(), String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            return Answer.problem(400, String.valueOf(e.getMessage()));
        } catch (RateLimitUnavailableException e) {
            return Answer.problem(
                    503,
                    "The store does not answer: " + e.reason()
                            + ". Whether a reset has taken effect is not known; it can be repeated.");
        } catch (RuntimeException e) {
            audit.failed(e);
            return Answer.problem(500, "This failed. The log says why: WEIR-505.");
        }
    }

    private Answer reset(HttpServletRequest request) throws IOException, PostedJson.Refused {
        Operations.Caller caller = Lookup.of(PostedJson.of(request), Set.of()).caller(operations());
        try {
            operations().reset(caller);
        } catch (RateLimitUnavailableException e) {
            audit.resetInDoubt(request.getUserPrincipal(), caller, e.reason());
            throw e;
        }
        audit.reset(request.getUserPrincipal(), caller);
        return Answer.json(200, Map.of("policy", caller.policy(), "key", caller.key()));
    }

    private Operations operations() {
        return console().operations();
    }

    private Console console() {
        Console known = found;
        if (known == null) {
            known = consoles.get();
            found = known;
        }
        return known;
    }

    private StateView view() {
        StateView known = view;
        if (known == null) {
            known = new StateView(console(), RunningInstance.since(started));
            view = known;
        }
        return known;
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
        return "the operators' page of Weir";
    }

    @Override
    public void destroy() {}
}
