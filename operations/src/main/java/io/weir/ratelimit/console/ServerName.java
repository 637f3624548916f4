// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import jakarta.enterprise.inject.spi.CDI;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import java.lang.System.Logger.Level;

/** A listener that sets the name of the server in the reports of this instance. Only a servlet context has it. */
final class ServerName implements ServletContextListener {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.console");

    @Override
    public void contextInitialized(ServletContextEvent event) {
        try {
            CDI.current()
                    .select(FleetReporter.class)
                    .get()
                    .server(event.getServletContext().getServerInfo());
        } catch (RuntimeException e) {
            LOG.log(Level.DEBUG, "the reports have no name of the server", e);
        }
    }
}
