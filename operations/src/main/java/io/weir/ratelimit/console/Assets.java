// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.runtime.HttpResource.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The static files of the page, which are resources of this jar. */
final class Assets {
    private static final Map<String, Answer> BY_PATH = Map.of(
            "/",
            asset("index.html", "text/html"),
            "/console.js",
            asset("console.js", "text/javascript"),
            "/changes.js",
            asset("changes.js", "text/javascript"),
            "/common.js",
            asset("common.js", "text/javascript"),
            "/console.css",
            asset("console.css", "text/css"),
            "/icon.svg",
            asset("icon.svg", "image/svg+xml"),
            Api.ROOT + "openapi.json",
            asset("openapi.json", "application/json"));

    private Assets() {}

    static Optional<Answer> at(String path) {
        return Optional.ofNullable(BY_PATH.get(path));
    }

    private static Answer asset(String file, String type) {
        try (InputStream in = Assets.class.getResourceAsStream("page/" + file)) {
            return ConsoleResponse.of(
                    type, new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
