// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpResponse;

/**
 * The health check of Weir in the MicroProfile Health response of a server.
 *
 * @param status the HTTP status of all checks
 * @param check the check of Weir
 */
record Health(int status, JsonObject check) {
    /**
     * Requests a health check.
     *
     * @param root the root of the server, with a slash at the end
     * @param kind {@code ready} or {@code live}
     */
    static Health of(URI root, String kind) {
        HttpResponse<String> response = Http.get(root.resolve("health/" + kind));
        try (JsonReader reader = Json.createReader(new StringReader(response.body()))) {
            JsonObject check = reader.readObject().getJsonArray("checks").getValuesAs(JsonObject.class).stream()
                    .filter(each -> each.getString("name").equals("ratelimit"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(response.body()));
            return new Health(response.statusCode(), check);
        }
    }

    boolean up() {
        return check.getString("status").equals("UP");
    }

    /** Returns a data entry as text. */
    String text(String name) {
        return check.getJsonObject("data").getString(name, "");
    }

    /** Returns a data entry as a number, which Payara writes as text. */
    int number(String name) {
        return Integer.parseInt(check.getJsonObject("data").get(name).toString().replace("\"", ""));
    }
}
