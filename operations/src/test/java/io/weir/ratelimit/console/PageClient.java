// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A client that sends requests with any method and header, each on a new connection. */
record PageClient(int port) {
    /** A response. */
    record Response(int status, List<String> fields, String body) {
        Optional<String> field(String name) {
            return fields.stream()
                    .filter(line -> line.regionMatches(true, 0, name + ":", 0, name.length() + 1))
                    .map(line -> line.substring(name.length() + 1).strip())
                    .findFirst();
        }
    }

    Response get(String path, String... headers) throws IOException {
        return send("GET", path, "", headers);
    }

    /** Sends a request like the page does. */
    Response post(String path, String body) throws IOException {
        return send("POST", path, body, "Sec-Fetch-Site: same-origin", "Content-Type: application/json");
    }

    Response send(String method, String path, String body, String... headers) throws IOException {
        List<String> lines = new ArrayList<>(List.of(method + " /app" + path + " HTTP/1.1", "Connection: close"));
        lines.addAll(Arrays.asList(headers));
        if (Arrays.stream(headers).noneMatch(header -> header.startsWith("Host:"))) {
            lines.add("Host: 127.0.0.1:" + port);
        }
        byte[] bytes = body.getBytes(UTF_8);
        if (!lines.contains("Transfer-Encoding: chunked") && (bytes.length > 0 || method.equals("POST"))) {
            lines.add("Content-Length: " + bytes.length);
        }
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write((String.join("\r\n", lines) + "\r\n\r\n").getBytes(UTF_8));
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            socket.getInputStream().transferTo(all);
            String[] parts = all.toString(UTF_8).split("\r\n\r\n", 2);
            List<String> head = List.of(parts[0].split("\r\n"));
            return new Response(Integer.parseInt(head.get(0).substring(9, 12)), head.subList(1, head.size()), parts[1]);
        }
    }

    static String basic(String user) {
        return "Authorization: Basic " + Base64.getEncoder().encodeToString((user + ":" + user).getBytes(UTF_8));
    }

    /** The header fields of every response. */
    static final Map<String, String> COMMON_HEADERS = Map.of(
            "X-Content-Type-Options", "nosniff",
            "Referrer-Policy", "no-referrer",
            "Cache-Control", "no-store",
            "Cross-Origin-Opener-Policy", "same-origin",
            "Cross-Origin-Resource-Policy", "same-origin");
}
