// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.slots;

import jakarta.inject.Inject;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** A servlet that calls a limited bean, or passes the request to a limited resource. */
@WebServlet(urlPatterns = "/served/*", asyncSupported = true)
public class SlotServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Inject
    private transient SlotBean bean;

    @Inject
    private transient Running running;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        switch (request.getPathInfo()) {
            case "/now" -> response.getWriter().print(bean.call());
            case "/error" -> {
                bean.call();
                response.sendError(418);
            }
            case "/failure" -> {
                bean.call();
                throw new IOException("on purpose");
            }
            case "/running-dispatch" -> {
                bean.call();
                request.startAsync().dispatch("/served/dispatched");
            }
            case "/running" -> {
                bean.call();
                run(request);
            }
            case "/dispatched" -> run(request);
            case "/timeout" -> {
                bean.call();
                request.startAsync().setTimeout(50);
            }
            case "/status" -> {
                bean.call();
                AsyncContext context = request.startAsync();
                response.setStatus(418);
                context.complete();
            }
            case "/forward" -> {
                bean.call();
                request.getRequestDispatcher("/api/slots/now/200").forward(request, response);
            }
            case "/dispatch" -> {
                bean.call();
                request.startAsync().dispatch("/served/now");
            }
            case "/later" -> request.startAsync().dispatch("/served/now");
            default -> response.sendError(404);
        }
    }

    /** Continues the request until the test ends it. */
    private void run(HttpServletRequest request) {
        AsyncContext context = request.startAsync();
        context.setTimeout(0);
        running.start(request.getHeader("X-Client")).thenAccept(how -> context.complete());
    }
}
