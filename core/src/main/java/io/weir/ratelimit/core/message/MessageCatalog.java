// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.message;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The numbered messages of one module. The resource {@code META-INF/weir/messages/<module>.properties} has these entries:
 *
 * <pre>
 * WEIR-301.level=WARNING                   the level of a log message
 * WEIR-301.text=Backend {0:backend} ...    the text of a log message or of an exception
 * WEIR-105.problem=the policy name ...     what is wrong in the configuration
 * WEIR-105.remedy=use 1 to 128 ...         how to correct it
 * </pre>
 *
 * A key is a number, or a number with a variant if the number has several texts: {@code WEIR-403.database}. A placeholder has the
 * index and the name of an argument. The catalog formats each text itself, because loggers differ in how they do it. A control
 * character in an argument becomes a blank, so that a client cannot forge log lines.
 */
public final class MessageCatalog {
    private static final Logger LOG = System.getLogger("io.weir.ratelimit");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\d):[A-Za-z]+}");
    private static final Pattern CONTROL = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

    private final Map<String, String> entries;

    private MessageCatalog(Map<String, String> entries) {
        this.entries = Map.copyOf(entries);
    }

    /** Reads the catalog of a module, by the class loader of a class of the module. */
    public static MessageCatalog load(Class<?> owner, String module) {
        String resource = "/META-INF/weir/messages/" + module + ".properties";
        Properties properties = new Properties();
        try (InputStream in = owner.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("resource " + resource + " is missing");
            }
            properties.load(new InputStreamReader(in, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new MessageCatalog(properties.stringPropertyNames().stream()
                .collect(Collectors.toMap(name -> name, name -> properties.getProperty(name, ""))));
    }

    /** Logs a message at its level to the logger of the library. The key is the number, with the variant if the number has several texts. */
    public void log(String key, @Nullable Object... arguments) {
        log(LOG, key, arguments);
    }

    public void log(@Nullable Throwable thrown, String key, @Nullable Object... arguments) {
        log(LOG, thrown, key, arguments);
    }

    /** Logs a message to another logger than that of the library. */
    public void log(Logger logger, String key, @Nullable Object... arguments) {
        log(logger, level(key), key, arguments);
    }

    public void log(Logger logger, @Nullable Throwable thrown, String key, @Nullable Object... arguments) {
        Level level = level(key);
        if (logger.isLoggable(level)) {
            logger.log(level, text(key, arguments), thrown);
        }
    }

    /** Logs a message at another level than its usual one. */
    public void log(Level level, String key, @Nullable Object... arguments) {
        log(LOG, level, key, arguments);
    }

    private void log(Logger logger, Level level, String key, @Nullable Object... arguments) {
        if (logger.isLoggable(level)) {
            logger.log(level, text(key, arguments));
        }
    }

    /** Logs the cause of what is no fault, for the search for one. */
    public static void debug(String text, Throwable cause) {
        LOG.log(Level.DEBUG, text, cause);
    }

    /** Fills in a message to be logged later. */
    public Message message(String key, @Nullable Object... arguments) {
        return new Message(level(key), text(key, arguments));
    }

    public String text(String key, @Nullable Object... arguments) {
        return number(key) + " " + format(entry(key, "text"), arguments);
    }

    /**
     * Describes a problem at a place, which is a property or a class and method. The value is empty if there is none, and {@code ***} for a
     * secret.
     */
    public ConfigurationProblem problem(String key, String place, String value, @Nullable Object... arguments) {
        return new ConfigurationProblem(
                number(key),
                place,
                value,
                format(entry(key, "problem"), arguments),
                format(entry(key, "remedy"), arguments));
    }

    private Level level(String key) {
        return Level.valueOf(entry(key, "level"));
    }

    private String entry(String key, String part) {
        String entry = entries.get(key + "." + part);
        if (entry == null) {
            throw new IllegalArgumentException("message " + key + " has no " + part);
        }
        return entry;
    }

    private static String number(String key) {
        int variant = key.indexOf('.');
        return variant < 0 ? key : key.substring(0, variant);
    }

    private static String format(String template, @Nullable Object... arguments) {
        return PLACEHOLDER.matcher(template).replaceAll(found -> argument(template, found, arguments));
    }

    private static String argument(String template, MatchResult placeholder, @Nullable Object... arguments) {
        int index = Integer.parseInt(placeholder.group(1));
        if (index >= arguments.length) {
            return Matcher.quoteReplacement(placeholder.group());
        }
        String text = inLine(String.valueOf(arguments[index]));
        // The message of an exception ends with its own full stop.
        boolean endsTwice = text.endsWith(".")
                && placeholder.end() < template.length()
                && ".)".indexOf(template.charAt(placeholder.end())) >= 0;
        return Matcher.quoteReplacement(endsTwice ? text.substring(0, text.length() - 1) : text);
    }

    /** Replaces the control characters of a text, line breaks included. */
    public static String inLine(String text) {
        return CONTROL.matcher(text).replaceAll(" ");
    }

    /** A message with its arguments filled in. */
    public record Message(System.Logger.Level level, String text) {
        /** Adds indented lines below the text. */
        public Message withLines(List<String> lines) {
            return new Message(
                    level,
                    lines.stream()
                            .map(line -> "\n  " + MessageCatalog.inLine(line))
                            .collect(Collectors.joining("", text, "")));
        }

        public void log() {
            log(LOG);
        }

        public void log(Logger logger) {
            logger.log(level, text);
        }
    }

    /** A sampler for a log message that clients can cause at will. It selects one event per interval, with the number of events. */
    public static final class Sampler {
        private final long intervalNanos;
        private long pending;
        private long loggedNanos;
        private boolean logged;

        /** Creates a sampler without events, with the shortest time between two messages. */
        public Sampler(long intervalNanos) {
            this.intervalNanos = intervalNanos;
        }

        /**
         * Counts an event at a time of a monotonic clock. Returns the number of events since the previous message, including this one; 0 if
         * no message is due.
         */
        public synchronized long countToLog(long nanos) {
            pending++;
            if (logged && nanos - loggedNanos < intervalNanos) {
                return 0;
            }
            long count = pending;
            pending = 0;
            logged = true;
            loggedNanos = nanos;
            return count;
        }
    }
}
