// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of a Redis server, whose user is one of an access control list: {@code redis://[[user]:password@]host[:port][/database]},
 * with TLS {@code rediss://}. Blanks, {@code @}, {@code :} and {@code /} in a user or a password are percent-encoded. The server is the
 * address without user, password and database.
 */
public record RedisAddress(String server, Optional<String> user, Optional<String> password, int database) {
    private static final int DEFAULT_PORT = 6379;
    private static final Pattern FORM = Pattern.compile("(rediss?)://(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?"
            + "(?<host>\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+)(?::(?<port>\\d{1,5}))?(?:/(?<database>\\d{1,4})?)?");

    private static final Pattern SCHEME = Pattern.compile("[a-z]{1,10}://");
    private static final String SERVER = "(?:rediss?://)?(?:\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+)(?::\\d*)?(?:/\\d*)?";
    private static final Pattern SERVERS = Pattern.compile(SERVER + "(?:\\s*,\\s*" + SERVER + ")*");

    /** Parses an address. Throws an {@link IllegalArgumentException} without the text if it has another form. */
    public static RedisAddress parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "the address is invalid: use redis://host:6379 or rediss://user:password@host:6379/0");
        }
        int port = matcher.group("port") == null ? DEFAULT_PORT : Integer.parseInt(matcher.group("port"));
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("the port is not in the range 1 to 65535");
        }
        String database = matcher.group("database");
        return new RedisAddress(
                matcher.group(1) + "://" + matcher.group("host") + ":" + port,
                decoded(matcher.group("user")),
                decoded(matcher.group("password")),
                database == null ? 0 : Integer.parseInt(database));
    }

    private static Optional<String> decoded(@Nullable String text) {
        // The decoder is one for forms, in which + is a blank.
        if (text == null || text.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            // The message of the decoder quotes the text.
            throw new IllegalArgumentException("the user or the password is not percent-encoded correctly");
        }
    }

    /**
     * Masks everything in an address that could be a user or a password. Of a malformed address only hosts, ports and numbers of databases
     * remain.
     */
    static String masked(String text) {
        Matcher scheme = SCHEME.matcher(text);
        int from = scheme.lookingAt() ? scheme.end() : 0;
        int at = text.lastIndexOf('@');
        String servers = text.substring(Math.max(from, at + 1));
        return text.substring(0, from)
                + (at < 0 ? "" : "***@")
                + (SERVERS.matcher(servers).matches() ? servers : "***");
    }

    /** Returns whether connections use TLS. */
    boolean tls() {
        return server.startsWith("rediss:");
    }

    /** Does not contain the user and the password. */
    @Override
    public String toString() {
        return server + "/" + database;
    }
}
