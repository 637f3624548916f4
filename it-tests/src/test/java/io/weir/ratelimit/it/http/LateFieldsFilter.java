// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.http;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/** Notes the fields about limits that are set although the response is committed. Some servers log a warning about each of them. */
@WebFilter(urlPatterns = "/*", asyncSupported = true)
public class LateFieldsFilter implements Filter {
    static final Set<String> FIELDS = new ConcurrentSkipListSet<>();

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        chain.doFilter(request, new Noting((HttpServletResponse) response));
    }

    private static final class Noting extends HttpServletResponseWrapper {
        Noting(HttpServletResponse response) {
            super(response);
        }

        private void note(String name) {
            String lower = name.toLowerCase(Locale.ROOT);
            if (isCommitted() && (lower.contains("ratelimit") || lower.equals("retry-after"))) {
                FIELDS.add(name);
            }
        }

        @Override
        public void setHeader(String name, String value) {
            note(name);
            super.setHeader(name, value);
        }

        @Override
        public void addHeader(String name, String value) {
            note(name);
            super.addHeader(name, value);
        }
    }
}
