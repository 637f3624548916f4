// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A plain connection to Redis, with which tests look at what a client left there. For use by one thread. */
public final class RedisConnection implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 10_000;

    private final Socket socket = new Socket();
    private final InputStream in;

    private RedisConnection(RedisAddress address) throws IOException {
        String hostAndPort = address.server().substring(address.server().indexOf("//") + 2);
        int colon = hostAndPort.lastIndexOf(':');
        String host = hostAndPort.substring(0, colon);
        socket.connect(new InetSocketAddress(host, Integer.parseInt(hostAndPort.substring(colon + 1))), TIMEOUT_MILLIS);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
        address.password().ifPresent(password -> call("AUTH", address.user().orElse("default"), password));
        if (address.database() != 0) {
            call("SELECT", address.database());
        }
    }

    /**
     * Connects.
     *
     * @param address the address as in {@code ratelimit.redis.address}, without TLS
     * @return the connection
     */
    public static RedisConnection to(String address) {
        try {
            return new RedisConnection(RedisAddress.parse(address));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Sends a command.
     *
     * @param words the command and its arguments: byte arrays as they are, anything else as its text
     * @return a {@code byte[]}, String (a status), Long, List or null
     * @throws IllegalStateException if Redis answers with an error
     */
    public Object call(Object... words) {
        try {
            socket.getOutputStream().write(Resp.command(List.of(words)));
            return Resp.read(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The text of an answer. */
    public String text(Object... words) {
        Object reply = call(words);
        return reply instanceof byte[] bytes ? new String(bytes, ISO_8859_1) : String.valueOf(reply);
    }

    /** The number that is the answer. */
    public long number(Object... words) {
        return (Long) call(words);
    }

    /** The bytes of a string. */
    public byte[] bytes(String key) {
        return (byte[]) call("GET", key);
    }

    /** All keys that match a pattern. */
    public Set<String> keys(String pattern) {
        Set<String> keys = new TreeSet<>();
        String cursor = "0";
        do {
            List<?> page = (List<?>) call("SCAN", cursor, "MATCH", pattern, "COUNT", 1_000);
            cursor = new String((byte[]) page.get(0), UTF_8);
            ((List<?>) page.get(1)).forEach(key -> keys.add(new String((byte[]) key, UTF_8)));
        } while (!cursor.equals("0"));
        return keys;
    }

    /** Removes all keys that match a pattern. */
    public void drop(String pattern) {
        keys(pattern).forEach(key -> call("DEL", key));
    }

    /** How often Redis has run a command since it started, also from within scripts. */
    public long calls(String command) {
        Matcher matcher =
                Pattern.compile("cmdstat_" + command + ":calls=(\\d+)").matcher(text("INFO", "commandstats"));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    /** How often Redis has run any command that writes, of those that scripts of this library could use. */
    public long writes() {
        return calls("set") + calls("del") + calls("pexpire") + calls("expire") + calls("persist");
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
