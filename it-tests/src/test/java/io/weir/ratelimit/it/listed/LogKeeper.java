// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.listed;

import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.BeforeBeanDiscovery;
import jakarta.enterprise.inject.spi.BeforeShutdown;
import jakarta.enterprise.inject.spi.Extension;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** An extension that keeps the log of the library. */
public class LogKeeper implements Extension {
    static final List<String> LINES = new CopyOnWriteArrayList<>();

    private static final Logger LOG = Logger.getLogger("io.weir.ratelimit");

    private final Handler keeper = new Handler() {
        @Override
        public void publish(LogRecord logged) {
            LINES.add(logged.getLevel() + " " + logged.getMessage());
        }

        @Override
        public void flush() {
            // records are not buffered
        }

        @Override
        public void close() {
            // nothing is open
        }
    };

    void begin(@Observes BeforeBeanDiscovery event) {
        LOG.addHandler(keeper);
    }

    void end(@Observes BeforeShutdown event) {
        LOG.removeHandler(keeper);
    }
}
