// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.console.PageClient.Response;
import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.spi.ConfigurationProblem;
import jakarta.json.Json;
import jakarta.json.JsonArray;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The description of the API has the paths of the servlet, and the responses have the described form. */
class OpenApiTest {
    private static final String ROOT = "/ratelimit/api/v1";
    private static final String LOOK_UP = "{\"policy\":\"hello\",\"alternative\":\"0\",\"values\":[\"203.0.113.7\"]}";

    private static final String UNBLOCK = LOOK_UP.replace("}", ",\"reason\":\"ticket 12\"}");
    private static final String BLOCK = UNBLOCK.replace("}", ",\"duration\":\"1h\"}");

    private final SimulatedFleet fleet = new SimulatedFleet(3);
    private PageServer server;
    private PageClient client;
    private JsonObject document;

    @BeforeEach
    void start() throws Exception {
        server = PageServer.start();
        // The first request looks for the store.
        fleet.store.now = Instant.now();
        server.operations.fleetStore = Optional.of(fleet.store);
        client = new PageClient(server.port());
        document = json(client.get(ROOT + "/openapi.json"));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static JsonObject json(Response response) {
        return Json.createReader(new StringReader(response.body())).readObject();
    }

    private JsonObject operation(String path, String method) {
        return document.getJsonObject("paths").getJsonObject(path).getJsonObject(method);
    }

    private JsonObject schema(JsonObject operation, int status) {
        return operation
                .getJsonObject("responses")
                .getJsonObject(Integer.toString(status))
                .getJsonObject("content")
                .getJsonObject("application/json")
                .getJsonObject("schema");
    }

    private void fill() {
        fill(server, fleet);
    }

    /** Fills every list of the responses. */
    static void fill(PageServer server, SimulatedFleet fleet) {
        server.operations.grafana = Optional.of("https://grafana.example.org/d/weir");
        List<TopKeys.Entry> entries = List.of(new TopKeys.Entry("i.a", 40, 42, 1));
        TopKeys top = new TopKeys(
                entries, entries, List.of(new TopKeys.NearLimit("i.c", Duration.ofMinutes(62))), Duration.ofMinutes(5));
        fleet.member(2).operations.policies.remove(1);
        for (SimulatedFleet.Member member : fleet.members) {
            member.operations.top = top;
            member.operations.backend = FakeOperations.report(BackendHealth.State.DEGRADED, true);
            member.operations.running.put("hello", 4);
            member.operations.blocks.penalized("hello", "i.p", Duration.ofHours(1), 2);
            member.operations.blocks.blocked("hello", "i.o", Duration.ofHours(2));
            member.operations.blocks.met("hello", "i.u", Duration.ofHours(3).toNanos() / 1_000);
            member.decide("hello", 3, 2);
        }
        server.operations.reload = new Reading(
                Instant.EPOCH,
                ReloadListener.Result.INVALID,
                List.of(new ConfigurationProblem("WEIR-101", "place", "value", "problem", "remedy")));
        fleet.pass(Duration.ofSeconds(1));
        fleet.reportAll();
    }

    @Test
    void describesAllPathsAndNoOthers() {
        Api api = new Api(
                () -> {
                    throw new IllegalStateException("no request is made");
                },
                Clock.systemUTC(),
                new Audit(System::nanoTime));
        Set<String> served = new TreeSet<>();
        api.reads().keySet().forEach(name -> served.add("get /" + name));
        api.posts().keySet().forEach(name -> served.add("post /" + name));
        Set<String> described = new TreeSet<>();
        document.getJsonObject("paths")
                .forEach((path, operations) ->
                        operations.asJsonObject().keySet().forEach(method -> described.add(method + " " + path)));
        assertThat(described).isEqualTo(served);
    }

    private static String body(String path) {
        return switch (path) {
            case "/callers/block" -> BLOCK;
            case "/callers/unblock" -> UNBLOCK;
            default -> LOOK_UP;
        };
    }

    @Test
    void everyResponseHasTheDescribedForm() throws Exception {
        fill();
        for (String path : document.getJsonObject("paths").keySet()) {
            if (path.startsWith("/changes")) {
                continue;
            }
            boolean isPost = document.getJsonObject("paths").getJsonObject(path).containsKey("post");
            Response response = isPost ? client.post(ROOT + path, body(path)) : client.get(ROOT + path);
            assertThat(response.status()).as(path).isEqualTo(200);
            assertThat(differences(schema(operation(path, isPost ? "post" : "get"), 200), json(response), path))
                    .isEmpty();
        }
        assertThat(json(client.get(ROOT + "/instances")).getJsonArray("differences"))
                .isNotEmpty();
        assertThat(json(client.get(ROOT + "/callers")).getJsonArray("nearLimit"))
                .isNotEmpty();
        assertThat(json(client.get(ROOT + "/callers")).getJsonArray("blocked")).hasSize(3);
    }

    @Test
    void everyResponseOfChangesHasTheDescribedForm() throws Exception {
        try (PageServer secured = PageServer.withLogin()) {
            FakeRuntimeChanges changes = new FakeRuntimeChanges(secured.operations);
            secured.operations.changes = Optional.of(changes);
            secured.operations.top = new TopKeys(
                    List.of(), List.of(new TopKeys.Entry("i.a", 4_000, 4_200, 1)), List.of(), Duration.ofMinutes(5));
            ChangesBrowserTest.decideOnce(secured);
            client = new PageClient(secured.port());
            String change =
                    "{\"version\":\"\",\"reason\":\"load\",\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"3/10s\"}";
            assertForm("/changes/preview", 200, change.replace("\"version\":\"\",\"reason\":\"load\",", ""));
            assertForm("/changes", 200, change);
            assertForm("/changes", 409, change);
            assertForm("/changes", 422, change.replace("3/10s", "x"));
            assertForm("/changes", 400, "{}");
            assertForm("/changes", 413, " ".repeat(PostedJson.MAX_BYTES + 1));
            assertForm(
                    "/changes/preview",
                    200,
                    change.replace("\"version\":\"\",\"reason\":\"load\",", "").replace("3/10s", "x"));
            String undo = "{\"version\":\"" + changes.view().tag() + "\",\"reason\":\"over\",\"number\":\"1\"}";
            assertForm("/changes/undo", 200, undo);
            assertForm("/changes/undo", 422, undo);
            String block = "{\"version\":\"" + changes.view().tag()
                    + "\",\"reason\":\"abuse\",\"kind\":\"block\",\"policy\":\"hello\",\"text\":\"a\",\"for\":\"1h\"}";
            assertForm("/changes", 200, block);
            JsonObject read = operation("/changes", "get");
            String ann = PageClient.basic("ann");
            assertResponse(read, 200, client.get(ROOT + "/changes", ann));
            assertResponse(read, 200, client.get(ROOT + "/changes?log=9", ann));
            assertResponse(read, 400, client.get(ROOT + "/changes?log=x", ann));
            changes.failure = Optional.of(FakeOperations.unavailable());
            assertForm("/changes", 503, block);
            assertResponse(read, 200, client.get(ROOT + "/changes?log=9", ann));
            secured.operations.changes = Optional.empty();
            assertForm("/changes", 404, block);
            assertResponse(read, 404, client.get(ROOT + "/changes", ann));
        }
    }

    private void assertForm(String path, int status, String body) throws Exception {
        Response response = client.send(
                "POST",
                ROOT + path,
                body,
                PageClient.basic("ann"),
                "Sec-Fetch-Site: same-origin",
                "Content-Type: application/json");
        assertResponse(operation(path, "post"), status, response);
    }

    @Test
    void everyErrorHasTheDescribedForm() throws Exception {
        JsonObject peek = operation("/callers/peek", "post");
        assertResponse(peek, 400, client.post(ROOT + "/callers/peek", "{}"));
        assertResponse(peek, 413, client.post(ROOT + "/callers/peek", LOOK_UP + " ".repeat(PostedJson.MAX_BYTES)));
        assertResponse(
                peek, 403, client.send("POST", ROOT + "/callers/peek", LOOK_UP, "Content-Type: application/json"));
        assertResponse(peek, 415, client.send("POST", ROOT + "/callers/peek", LOOK_UP, "Sec-Fetch-Site: same-origin"));
        server.operations.failure = Optional.of(FakeOperations.unavailable());
        assertResponse(peek, 503, client.post(ROOT + "/callers/peek", LOOK_UP));
        server.operations.failure = Optional.of(new IllegalStateException());
        assertResponse(peek, 500, client.post(ROOT + "/callers/peek", LOOK_UP));
    }

    private void assertResponse(JsonObject operation, int status, Response response) {
        assertThat(response.status()).isEqualTo(status);
        assertThat(differences(schema(operation, status), json(response), Integer.toString(status)))
                .isEmpty();
    }

    @Test
    void selectsOnePolicy() throws Exception {
        fill();
        server.operations.top =
                new TopKeys(List.of(new TopKeys.Entry("i.a", 40, 42, 1)), List.of(), List.of(), Duration.ofMinutes(5));
        assertThat(json(client.get(ROOT + "/callers?policy=hello")).getJsonArray("rejected"))
                .isNotEmpty()
                .allSatisfy(caller ->
                        assertThat(caller.asJsonObject().getString("policy")).isEqualTo("hello"));
        assertThat(json(client.get(ROOT + "/callers?policy=%3Cother%3E")).getJsonArray("rejected"))
                .isEmpty();
        assertThat(json(client.get(ROOT + "/history?policy=hello")).getJsonArray("decided"))
                .hasSize(FleetHistory.STEPS);
    }

    @Test
    void theRunbookHasACommandForEachOperation() throws Exception {
        String runbook = Files.readString(Path.of("../docs/operations/runbook.md"));
        Set<String> called = Pattern.compile("\\$app(/[a-z/]+)")
                .matcher(runbook)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> described = new TreeSet<>(document.getJsonObject("paths").keySet());
        // A reset is an exception that the page asks to confirm.
        described.remove("/callers/reset");
        assertThat(called).isEqualTo(described);
    }

    @Test
    void theDescriptionAcceptsTheRequestsOfThePage() {
        JsonObject lookUp =
                document.getJsonObject("components").getJsonObject("schemas").getJsonObject("Lookup");
        assertThat(differences(
                        lookUp, Json.createReader(new StringReader(LOOK_UP)).readObject(), "look-up"))
                .isEmpty();
        JsonObject change = Json.createObjectBuilder()
                .add("version", "")
                .add("reason", "load")
                .add("kind", "policy")
                .add("policy", "hello")
                .add("on-failure", "closed")
                .add("for", "2h")
                .build();
        assertThat(differences(
                        document.getJsonObject("components")
                                .getJsonObject("schemas")
                                .getJsonObject("ChangeRequest"),
                        change,
                        "change"))
                .isEmpty();
        JsonObject schemas = document.getJsonObject("components").getJsonObject("schemas");
        assertThat(differences(
                        schemas.getJsonObject("Block"),
                        Json.createReader(new StringReader(BLOCK)).readObject(),
                        "block"))
                .isEmpty();
        assertThat(differences(
                        schemas.getJsonObject("Unblock"),
                        Json.createReader(new StringReader(UNBLOCK)).readObject(),
                        "unblock"))
                .isEmpty();
    }

    /** Returns the differences between a value and the parts of JSON Schema that the document uses. */
    private List<String> differences(JsonObject given, JsonValue value, String place) {
        JsonObject schema = given;
        if (given.containsKey("$ref")) {
            String name = given.getString("$ref").substring("#/components/schemas/".length());
            schema = document.getJsonObject("components")
                    .getJsonObject("schemas")
                    .getJsonObject(name);
        }
        List<String> differences = new ArrayList<>();
        if (!types(schema).contains(type(value))
                && !(types(schema).contains("number") && type(value).equals("integer"))) {
            differences.add(place + " is " + type(value));
            return differences;
        }
        if (schema.containsKey("enum")
                && schema.getJsonArray("enum").stream().noneMatch(allowed -> allowed.equals(value))) {
            differences.add(place + " is " + value);
        }
        if (schema.containsKey("minimum")
                && value instanceof JsonNumber number
                && number.doubleValue() < schema.getInt("minimum")) {
            differences.add(place + " is " + value);
        }
        if (value instanceof JsonArray array) {
            for (int i = 0; i < array.size(); i++) {
                differences.addAll(differences(schema.getJsonObject("items"), array.get(i), place + "[" + i + "]"));
            }
        }
        if (value instanceof JsonObject object) {
            differences.addAll(members(schema, object, place));
        }
        return differences;
    }

    private List<String> members(JsonObject schema, JsonObject object, String place) {
        List<String> differences = new ArrayList<>();
        JsonObject properties =
                schema.getOrDefault("properties", JsonValue.EMPTY_JSON_OBJECT).asJsonObject();
        for (JsonString required : schema.getOrDefault("required", JsonValue.EMPTY_JSON_ARRAY)
                .asJsonArray()
                .getValuesAs(JsonString.class)) {
            if (!object.containsKey(required.getString())) {
                differences.add(place + " has no " + required.getString());
            }
        }
        for (Map.Entry<String, JsonValue> member : object.entrySet()) {
            JsonValue other = schema.getOrDefault("additionalProperties", JsonValue.FALSE);
            if (properties.containsKey(member.getKey())) {
                differences.addAll(differences(
                        properties.getJsonObject(member.getKey()), member.getValue(), place + "." + member.getKey()));
            } else if (other instanceof JsonObject ofOthers) {
                differences.addAll(differences(ofOthers, member.getValue(), place + "." + member.getKey()));
            } else {
                differences.add(place + " has " + member.getKey());
            }
        }
        return differences;
    }

    private static Set<String> types(JsonObject schema) {
        JsonValue type = schema.get("type");
        return type instanceof JsonArray several
                ? several.getValuesAs(JsonString.class).stream()
                        .map(JsonString::getString)
                        .collect(Collectors.toSet())
                : Set.of(((JsonString) type).getString());
    }

    private static String type(JsonValue value) {
        return switch (value.getValueType()) {
            case NUMBER -> value.toString().contains(".") ? "number" : "integer";
            case TRUE, FALSE -> "boolean";
            default -> value.getValueType().name().toLowerCase(java.util.Locale.ROOT);
        };
    }
}
