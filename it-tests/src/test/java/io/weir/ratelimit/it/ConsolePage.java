// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** A client of the console of an application. */
record ConsolePage(URI base) {
    static final String THIS_CLIENT = "{\"policy\":\"hello\",\"alternative\":\"0\",\"values\":[\"127.0.0.1\"]}";

    HttpResponse<String> get(String path, String... headers) {
        return Http.get(base.resolve("ratelimit/" + path), headers);
    }

    JsonObject api(String path) {
        return json(get("api/v1/" + path));
    }

    JsonObject policy(String name) {
        return api("policies").getJsonArray("policies").getValuesAs(JsonObject.class).stream()
                .filter(policy -> policy.getString("name").equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Sends a request like the page does, with additional header fields. */
    HttpResponse<String> post(String path, String body, String... headers) {
        List<String> all = new ArrayList<>(List.of("Sec-Fetch-Site", "same-origin"));
        all.addAll(List.of(headers));
        return crossOriginPost(path, body, all.toArray(String[]::new));
    }

    HttpResponse<String> crossOriginPost(String path, String body, String... headers) {
        return Http.post(base.resolve("ratelimit/" + path), "application/json", body, headers);
    }

    /** Returns the remaining permits of this client under {@code hello}. */
    int remaining() {
        return json(post("api/v1/callers/peek", THIS_CLIENT))
                .getJsonArray("quotas")
                .getJsonObject(0)
                .getInt("remaining");
    }

    /** Asserts that every path has the same status. */
    void assertStatus(int status, String... headers) {
        for (String path : List.of("", "api/v1/instances", "console.js", "other")) {
            assertThat(get(path, headers).statusCode()).as("GET %s", path).isEqualTo(status);
        }
        assertThat(post("api/v1/callers/reset", THIS_CLIENT, headers).statusCode())
                .isEqualTo(status);
    }

    static JsonObject json(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return Json.createReader(new StringReader(response.body())).readObject();
    }

    static String[] as(String user, String password) {
        return new String[] {
            "Authorization",
            "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8))
        };
    }
}
