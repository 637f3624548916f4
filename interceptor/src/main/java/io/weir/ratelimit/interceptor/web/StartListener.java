// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.web;

import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.interceptor.cdi.CurrentApplication;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.servlet.ServletMappings;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;

/**
 * A listener that checks the policies when a WAR with this library has started. Open Liberty shows the servlets of an application to
 * declared listeners only, and not to observers of CDI.
 */
@WebListener
public final class StartListener implements ServletContextListener {
    @Override
    public void contextInitialized(ServletContextEvent event) {
        try {
            ServletContext context = event.getServletContext();
            RateLimitExtension extension = CurrentApplication.extension();
            extension.withoutLimits(ServletMappings.applications(context)).forEach(error -> error.log());
            extension.warnings(ServletMappings.of(context)).forEach(warning -> warning.log());
        } catch (RuntimeException | LinkageError e) {
            MessageCatalog.debug("The policies are not checked against the application", e);
        }
    }
}
