// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.web;

import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.interceptor.rest.QuotaResource;
import io.weir.ratelimit.interceptor.servlet.ServletCall;
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
import java.util.Optional;
import java.util.function.Supplier;

/** The servlet of the quota resource. */
final class QuotaServlet extends GenericServlet {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient HttpResource resource;

    QuotaServlet(Supplier<CallerQuotas> quotas) {
        this.resource = new QuotaResource(quotas);
    }

    @Override
    public void service(ServletRequest anyRequest, ServletResponse anyResponse) throws IOException {
        HttpServletRequest request = (HttpServletRequest) anyRequest;
        HttpServletResponse response = (HttpServletResponse) anyResponse;
        Optional<Answer> answer = resource.answer(new Request(request, response));
        if (answer.isPresent()) {
            send(answer.get(), response, request.getMethod().equals("GET"));
        }
    }

    private static void send(Answer answer, HttpServletResponse response, boolean withBody) throws IOException {
        if (answer.isError()) {
            response.sendError(answer.status());
            return;
        }
        response.setStatus(answer.status());
        answer.headers().forEach(response::setHeader);
        if (!answer.body().isEmpty()) {
            byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
            response.setContentLength(bytes.length);
            if (withBody) {
                response.getOutputStream().write(bytes);
            }
        }
    }

    private record Request(HttpServletRequest http, HttpServletResponse response) implements HttpResource.Request {
        @Override
        public CallContext caller() {
            return new ServletCall(http, Optional.ofNullable(http.getRemoteAddr()));
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
            return "";
        }

        @Override
        public byte[] body(int limit) {
            return new byte[0];
        }

        @Override
        public Login login() throws IOException {
            try {
                if (http.authenticate(response)) {
                    return Login.SUCCEEDED;
                }
            } catch (ServletException | RuntimeException e) {
                MessageCatalog.debug("The server did not authenticate a caller of the quota resource.", e);
            }
            // A server without a login leaves the response as it is.
            return !response.isCommitted() && response.getStatus() == HttpServletResponse.SC_OK
                    ? Login.UNAVAILABLE
                    : Login.ANSWERED;
        }
    }
}
