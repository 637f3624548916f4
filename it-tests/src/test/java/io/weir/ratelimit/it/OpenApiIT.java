// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The OpenAPI document of the example on each server, compared with the responses. */
@Tag("server")
@Tag("ci")
class OpenApiIT {
    private static final String OPENAPI =
            "<server><featureManager><feature>mpOpenAPI-4.1</feature></featureManager></server>";

    private static final Supplier<ServerBuilder<?>> LIBERTY =
            () -> LibertyServer.named("openapi-liberty").serverXml(OPENAPI);
    private static final Supplier<ServerBuilder<?>> PAYARA = () -> PayaraServer.named("openapi-payara");
    private static final Supplier<ServerBuilder<?>> WILDFLY = () -> WildFlyServer.named("openapi-wildfly");

    @Test
    void openLiberty() {
        documentsLimits(LIBERTY);
    }

    @Test
    void payaraMicro() {
        documentsLimits(PAYARA);
    }

    @Test
    void wildFly() {
        documentsLimits(WILDFLY);
    }

    private static void documentsLimits(Supplier<ServerBuilder<?>> kind) {
        try (Server server = kind.get().start()) {
            JsonObject document = document(server);
            documentDescribesTheResponsesOfALimitedOperation(server, document);
            unlimitedOperationIsUnchanged(document);
            for (String resource : Set.of("slow", "monthly")) {
                assertThat(fields(responses(document, resource).getJsonObject("429")))
                        .as("a concurrency limit or a limit of a month: %s", resource)
                        .contains("retry-after", "ratelimit-policy");
            }
            assertThat(object(document, "paths", "/rate-limits", "get", "responses"))
                    .containsOnlyKeys("200", "429", "503");
        }
    }

    /** With {@code ratelimit.enabled=false}, the document has no limits. */
    @Test
    void documentHasNoLimitsIfDisabled() {
        for (Supplier<ServerBuilder<?>> kind : List.of(LIBERTY, PAYARA, WILDFLY)) {
            ServerBuilder<?> builder = kind.get();
            builder.systemProperty("ratelimit.enabled", "false");
            try (Server server = builder.start()) {
                assertThat(responses(document(server), "hello")).hasSize(1).doesNotContainKey("429");
            }
        }
    }

    private static void documentDescribesTheResponsesOfALimitedOperation(Server server, JsonObject document) {
        JsonObject hello = responses(document, "hello");
        HttpResponse<String> allowed = Http.get(server.baseUri().resolve("api/hello"));
        Http.statuses(4, server.baseUri().resolve("api/hello"));
        HttpResponse<String> rejected = Http.get(server.baseUri().resolve("api/hello"));
        assertThat(fields(hello.getJsonObject(hello.containsKey("200") ? "200" : "default")))
                .isEqualTo(limitFields(allowed))
                .hasSize(8);
        assertThat(fields(hello.getJsonObject("429")))
                .isEqualTo(limitFields(rejected))
                .contains("retry-after");
        assertThat(hello).doesNotContainKey("503");

        JsonObject content = hello.getJsonObject("429").getJsonObject("content");
        assertThat(content)
                .containsOnlyKeys(rejected.headers().firstValue("Content-Type").orElseThrow());
        assertThat(text(content, "application/problem+json", "schema", "$ref"))
                .isEqualTo("#/components/schemas/RateLimitProblem");
        Set<String> members = new TreeSet<>(parsed(rejected.body()).keySet());
        members.add("help"); // only policies with a help page
        assertThat(object(document, "components", "schemas", "RateLimitProblem", "properties"))
                .containsOnlyKeys(members.toArray(String[]::new));
        assertThat(text(document, "components", "headers", "Retry-After", "schema", "type"))
                .isEqualTo("integer");
        assertThat(server.messages()).doesNotContain("WEIR-312");
    }

    private static void unlimitedOperationIsUnchanged(JsonObject document) {
        for (String resource : Set.of("health", "report")) {
            JsonObject responses = responses(document, resource);
            assertThat(responses).as(resource).hasSize(1);
            responses
                    .values()
                    .forEach(response ->
                            assertThat(response.asJsonObject()).as(resource).doesNotContainKey("headers"));
        }
    }

    private static JsonObject document(Server server) {
        return parsed(Http.get(server.baseUri().resolve("openapi?format=JSON"), "Accept", "application/json")
                .body());
    }

    private static JsonObject responses(JsonObject document, String resource) {
        return object(document, "paths", "/api/" + resource, "get", "responses");
    }

    private static Set<String> fields(JsonObject response) {
        return lowerCase(response.getJsonObject("headers").keySet());
    }

    private static Set<String> limitFields(HttpResponse<String> response) {
        Set<String> fields = lowerCase(response.headers().map().keySet());
        fields.removeIf(name -> !name.contains("ratelimit") && !name.equals("retry-after"));
        return fields;
    }

    private static Set<String> lowerCase(Set<String> names) {
        Set<String> lower = new TreeSet<>();
        names.forEach(name -> lower.add(name.toLowerCase(Locale.ROOT)));
        return lower;
    }

    private static JsonObject parsed(String json) {
        try (JsonReader reader = Json.createReader(new StringReader(json))) {
            return reader.readObject();
        }
    }

    private static JsonObject object(JsonObject from, String... path) {
        JsonObject at = from;
        for (String name : path) {
            assertThat(at).containsKey(name);
            at = at.getJsonObject(name);
        }
        return at;
    }

    private static String text(JsonObject from, String... path) {
        JsonObject at = from;
        for (int i = 0; i < path.length - 1; i++) {
            at = object(at, path[i]);
        }
        return at.getString(path[path.length - 1]);
    }
}
