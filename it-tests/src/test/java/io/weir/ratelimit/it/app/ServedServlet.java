// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimitExceededException;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** A servlet that calls a limited bean twice, outside of Jakarta REST. Each call pays. */
@WebServlet("/served")
public class ServedServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Inject
    private transient Servant servant;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            response.getWriter().print(servant.serve() + " " + servant.serve());
        } catch (RateLimitExceededException e) {
            response.setStatus(429);
        }
    }
}
