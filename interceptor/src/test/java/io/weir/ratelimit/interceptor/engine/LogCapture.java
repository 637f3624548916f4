// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What the library logs while it is open, one line per record, and nothing of it on the console. */
public final class LogCapture extends Handler implements AutoCloseable {
    private final Logger logger;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    public LogCapture() {
        this(Level.INFO);
    }

    public LogCapture(Level level) {
        logger = Logger.getLogger("io.weir.ratelimit");
        logger.setLevel(level);
        logger.addHandler(this);
        logger.setUseParentHandlers(false);
    }

    /** Level and text of each record. */
    public List<String> lines() {
        return lines;
    }

    @Override
    public void publish(LogRecord logged) {
        lines.add(logged.getLevel() + " " + new SimpleFormatter().formatMessage(logged));
    }

    @Override
    public void flush() {
        // nothing is kept back
    }

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setLevel(null);
        logger.setUseParentHandlers(true);
    }
}
