// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.runtime.HttpResource;
import io.weir.ratelimit.runtime.HttpResource.Answer;
import io.weir.ratelimit.runtime.HttpResource.Login;
import io.weir.ratelimit.spi.CallContext;
import jakarta.servlet.GenericServlet;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The servlet of the console. */
final class ConsoleServlet extends GenericServlet {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient HttpResource console;

    ConsoleServlet(HttpResource console) {
        this.console = console;
    }

    @Override
    public void service(ServletRequest anyRequest, ServletResponse anyResponse) throws IOException {
        HttpServletRequest request = (HttpServletRequest) anyRequest;
        HttpServletResponse response = (HttpServletResponse) anyResponse;
        Optional<Answer> answer = console.answer(new Request(request, response));
        if (answer.isPresent()) {
            send(answer.get(), response, !request.getMethod().equals("HEAD"));
        }
    }

    private static void send(Answer answer, HttpServletResponse response, boolean withBody) throws IOException {
        if (answer.isError()) {
            response.sendError(answer.status());
            return;
        }
        byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
        response.setStatus(answer.status());
        answer.headers().forEach(response::setHeader);
        if (answer.status() != HttpServletResponse.SC_NO_CONTENT) {
            response.setContentLength(bytes.length);
        }
        if (withBody && bytes.length > 0) {
            response.getOutputStream().write(bytes);
        }
    }

    private record Request(HttpServletRequest http, HttpServletResponse response) implements HttpResource.Request {
        @Override
        public CallContext caller() {
            return new Operator(http);
        }

        @Override
        public boolean hasUser() {
            return http.getUserPrincipal() != null;
        }

        @Override
        public String method() {
            return http.getMethod();
        }

        @Override
        public String path() {
            return Optional.ofNullable(http.getPathInfo()).orElse("");
        }

        @Override
        public byte[] body(int limit) throws IOException {
            return http.getInputStream().readNBytes(limit);
        }

        @Override
        public Login login() throws IOException {
            try {
                if (http.authenticate(response)) {
                    return Login.SUCCEEDED;
                }
            } catch (ServletException | RuntimeException e) {
                // Servers throw this if the application has no mechanism, or for invalid credentials.
            }
            // A server without a login leaves the response as it is.
            return !response.isCommitted() && response.getStatus() == HttpServletResponse.SC_OK
                    ? Login.UNAVAILABLE
                    : Login.ANSWERED;
        }
    }

    private record Operator(HttpServletRequest http) implements CallContext {
        @Override
        public Optional<String> peerAddress() {
            return Optional.ofNullable(http.getRemoteAddr());
        }

        @Override
        public Optional<String> principal() {
            return Optional.ofNullable(http.getUserPrincipal()).map(Principal::getName);
        }

        @Override
        public boolean isInRole(String role) {
            return http.isUserInRole(role);
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.ofNullable(http.getHeader(name));
        }

        @Override
        public List<String> headerLines(String name) {
            return Collections.list(http.getHeaders(name));
        }

        @Override
        public Optional<String> queryParameter(String name) {
            return Optional.ofNullable(http.getParameter(name));
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    }
}
