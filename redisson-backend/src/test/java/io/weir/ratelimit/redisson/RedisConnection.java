// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
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
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.write(("*" + words.length + "\r\n").getBytes(UTF_8));
            for (Object word : words) {
                byte[] bytes =
                        word instanceof byte[] raw ? raw : word.toString().getBytes(UTF_8);
                out.write(("$" + bytes.length + "\r\n").getBytes(UTF_8));
                out.write(bytes);
                out.write("\r\n".getBytes(UTF_8));
            }
            socket.getOutputStream().write(out.toByteArray());
            return reply();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Object reply() throws IOException {
        int kind = in.read();
        String line = line();
        return switch (kind) {
            case '+' -> line;
            case '-' -> throw new IllegalStateException(line);
            case ':' -> Long.valueOf(line);
            case '$' -> bulk(Integer.parseInt(line));
            case '*' -> list(Integer.parseInt(line));
            default -> throw new EOFException("the connection was closed, or no reply: " + kind + line);
        };
    }

    private byte[] bulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = in.readNBytes(length);
        line();
        return bytes;
    }

    private List<Object> list(int length) throws IOException {
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            all.add(reply());
        }
        return all;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
            line.append((char) c);
        }
        return line.isEmpty() ? "" : line.substring(0, line.length() - 1);
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
