// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpResponse;

/**
 * What a server's MicroProfile Health tells of Weir.
 *
 * @param status the HTTP status of all checks together
 * @param check the check of Weir's
 */
record Health(int status, JsonObject check) {
    /**
     * Asks.
     *
     * @param root where the server answers to it, with a slash at the end
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

    /** The text of one of its data. */
    String text(String name) {
        return check.getJsonObject("data").getString(name, "");
    }

    /** One of its data that is a number, which Payara writes as a text. */
    int number(String name) {
        return Integer.parseInt(check.getJsonObject("data").get(name).toString().replace("\"", ""));
    }
}
