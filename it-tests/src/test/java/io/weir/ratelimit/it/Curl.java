// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** A {@code curl} command line with the options that the pages use: {@code -s}, {@code -i}, {@code -o}, {@code -w} and {@code -H}. */
final class Curl {
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

    private final Map<String, String> headers = new LinkedHashMap<>();
    private boolean headersShown;
    private boolean bodyShown = true;
    private String format = "";
    private String address = "";

    private Curl() {}

    /**
     * Sends the request of a command line.
     *
     * @return what {@code curl} writes to its standard output
     */
    static String run(String command) {
        Curl curl = new Curl();
        Queue<String> words = new ArrayDeque<>();
        WORD.matcher(command).results().map(Curl::unquoted).forEach(words::add);
        words.remove();
        while (!words.isEmpty()) {
            curl.read(words.remove(), words);
        }
        return curl.send();
    }

    private static String unquoted(MatchResult word) {
        return word.group(1) == null ? word.group(2) : word.group(1);
    }

    private void read(String option, Queue<String> words) {
        switch (option) {
            case "-s" -> {}
            case "-i" -> headersShown = true;
            case "-o" -> bodyShown = !words.remove().equals("/dev/null");
            case "-w" -> format = words.remove().replace("\\n", "\n");
            case "-H" -> {
                String[] field = words.remove().split(": *", 2);
                headers.put(field[0], field[1]);
            }
            default -> {
                if (option.startsWith("-")) {
                    throw new IllegalArgumentException("The test does not know the option " + option + " of curl");
                }
                address = option;
            }
        }
    }

    private String send() {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create("http://" + address).toURL().openConnection();
            connection.setReadTimeout(20_000);
            connection.setRequestProperty("Accept", "*/*");
            headers.forEach(connection::setRequestProperty);
            int status = connection.getResponseCode();
            StringBuilder output = new StringBuilder();
            if (headersShown) {
                for (int i = 0; connection.getHeaderField(i) != null; i++) {
                    String name = connection.getHeaderFieldKey(i);
                    output.append(name == null ? "" : name + ": ")
                            .append(connection.getHeaderField(i))
                            .append('\n');
                }
                output.append('\n');
            }
            try (InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                String text = body == null ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8);
                output.append(bodyShown ? text : "");
            }
            return output.append(format.replace("%{http_code}", Integer.toString(status)))
                    .toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
