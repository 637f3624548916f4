// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;

/** A persistent HTTP connection of one client. It is cheaper than a full HTTP client. Not thread-safe. */
final class PersistentConnection implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = (int) Duration.ofSeconds(20).toMillis();

    private final URI server;
    private Socket socket;
    private InputStream in;

    PersistentConnection(URI server) {
        this.server = server;
    }

    /**
     * Sends a GET request, over a new connection if there is none, and reads the response.
     *
     * @return the status
     */
    int get(String path, String client) throws IOException {
        try {
            connect();
            socket.getOutputStream()
                    .write(("GET " + server.getPath() + path + " HTTP/1.1\r\nHost: " + server.getAuthority()
                                    + "\r\nX-Client: " + client + "\r\n\r\n")
                            .getBytes(StandardCharsets.ISO_8859_1));
            return response();
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private void connect() throws IOException {
        if (socket == null) {
            socket = new Socket(server.getHost(), server.getPort());
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.setTcpNoDelay(true);
            in = new BufferedInputStream(socket.getInputStream());
        }
    }

    private int response() throws IOException {
        String first = line();
        int length = 0;
        boolean chunked = false;
        boolean last = false;
        for (String field = line(); !field.isEmpty(); field = line()) {
            String lower = field.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(
                        lower.substring("content-length:".length()).strip());
            }
            chunked |= lower.startsWith("transfer-encoding:") && lower.endsWith("chunked");
            last |= lower.matches("connection:\\s*close");
        }
        if (chunked) {
            for (int size = Integer.parseInt(line(), 16); size > 0; size = Integer.parseInt(line(), 16)) {
                in.skipNBytes(size);
                line();
            }
            line();
        } else {
            in.skipNBytes(length);
        }
        if (last) {
            close();
        }
        return Integer.parseInt(first.split(" ", 3)[1]);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() {
        Socket open = socket;
        socket = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
