// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What the page is made of, in this jar. */
final class Assets {
    private static final Map<String, Answer> BY_PATH = Map.of(
            "/", asset("index.html", "text/html"),
            "/console.js", asset("console.js", "text/javascript"),
            "/console.css", asset("console.css", "text/css"),
            "/icon.svg", asset("icon.svg", "image/svg+xml"));

    private Assets() {}

    static Optional<Answer> at(String path) {
        return Optional.ofNullable(BY_PATH.get(path));
    }

    private static Answer asset(String file, String type) {
        try (InputStream in = Assets.class.getResourceAsStream("page/" + file)) {
            return Answer.of(type, new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
