// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.callers;

import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Calls the bean outside of Jakarta REST. */
@WebServlet({"/user/servlet", "/visitor/servlet"})
public class PlaceServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Inject
    private transient Limited limited;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().print(Limited.answer(limited::servlet));
    }
}
