// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** An HTTP client of the application under test, with a name in {@code X-Client}. Each request has a connection of its own. */
final class Client {
    private static final Duration LONG = Duration.ofSeconds(60);

    final String name = UUID.randomUUID().toString();

    private final URI base;

    Client(URI base) {
        this.base = base;
    }

    HttpResponse<String> get(String path, String... headers) {
        return start(path, headers).join();
    }

    CompletableFuture<HttpResponse<String>> start(String path, String... headers) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(base.resolve("/" + path)).timeout(LONG).version(HttpClient.Version.HTTP_1_1);
        request.header("X-Client", name);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HttpClient.newHttpClient().sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
