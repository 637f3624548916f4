// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;

/** An endpoint with the messages of the Model Context Protocol, which calls a tool. */
@RequestScoped
@Path("mcp")
public class Tools {
    @Inject
    Weather weather;

    @POST
    public JsonObject call(JsonObject request) {
        JsonObject parameters = request.getJsonObject("params");
        return Json.createObjectBuilder()
                .add("jsonrpc", "2.0")
                .add("id", request.get("id"))
                .add("result", result(parameters.getJsonObject("arguments").getString("city")))
                .build();
    }

    private JsonObject result(String city) {
        try {
            return result(weather.forecast(city), false);
        } catch (RateLimitExceededException e) {
            return result(e.getMessage(), true);
        }
    }

    private static JsonObject result(String text, boolean isError) {
        return Json.createObjectBuilder()
                .add(
                        "content",
                        Json.createArrayBuilder()
                                .add(Json.createObjectBuilder()
                                        .add("type", "text")
                                        .add("text", text)))
                .add("isError", isError)
                .build();
    }

    /** A tool. */
    @ApplicationScoped
    public static class Weather {
        @RateLimit("tool")
        public String forecast(String city) {
            return "sun in " + city;
        }
    }
}
