// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Redis's protocol, of version 2. */
final class Resp {
    private Resp() {}

    /**
     * A command as it is sent.
     *
     * @param words the command and its arguments: byte arrays as they are, anything else as its text
     */
    static byte[] command(List<?> words) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(("*" + words.size() + "\r\n").getBytes(UTF_8));
        for (Object word : words) {
            byte[] bytes = word instanceof byte[] raw ? raw : word.toString().getBytes(UTF_8);
            out.write(("$" + bytes.length + "\r\n").getBytes(UTF_8));
            out.write(bytes);
            out.write("\r\n".getBytes(UTF_8));
        }
        return out.toByteArray();
    }

    /**
     * Reads a reply, or a command, which is a list of its words.
     *
     * @return a {@code byte[]}, String (a status), Long, List or null
     * @throws IllegalStateException if it is an error
     */
    static Object read(InputStream in) throws IOException {
        int kind = in.read();
        String line = line(in);
        return switch (kind) {
            case '+' -> line;
            case '-' -> throw new IllegalStateException(line);
            case ':' -> Long.valueOf(line);
            case '$' -> bulk(in, Integer.parseInt(line));
            case '*' -> list(in, Integer.parseInt(line));
            default -> throw new EOFException("the connection was closed, or no reply: " + kind + line);
        };
    }

    private static byte[] bulk(InputStream in, int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = in.readNBytes(length);
        line(in);
        return bytes;
    }

    private static List<Object> list(InputStream in, int length) throws IOException {
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            all.add(read(in));
        }
        return all;
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
            line.append((char) c);
        }
        return line.isEmpty() ? "" : line.substring(0, line.length() - 1);
    }
}
