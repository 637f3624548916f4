// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.console.PageClient.Response;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.ChangeUnsentException;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.spi.ConfigurationProblem;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.StringReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The HTTP API of runtime changes, and its protection. */
class ChangesApiTest {
    private static final String PATH = "/ratelimit/api/v1/changes";
    private static final String JSON = "Content-Type: application/json";
    private static final String SAME = "Sec-Fetch-Site: same-origin";
    private static final String ANN = PageClient.basic("ann");

    private PageServer server;
    private PageClient client;
    private FakeRuntimeChanges changes;

    @BeforeEach
    void start() throws Exception {
        server = PageServer.withLogin();
        client = new PageClient(server.port());
        changes = new FakeRuntimeChanges(server.operations);
        server.operations.changes = Optional.of(changes);
        server.operations.access = new Access(true, Optional.of("operator"), false);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static JsonObject json(Response response) {
        return Json.createReader(new StringReader(response.body())).readObject();
    }

    private Response post(String path, String body, String... headers) throws Exception {
        List<String> all = new ArrayList<>(List.of(ANN, SAME, JSON));
        all.addAll(List.of(headers));
        return client.send("POST", path, body, all.toArray(String[]::new));
    }

    /** Returns the body of a change with the current version. */
    private String body(String fields) {
        return "{\"version\":\"" + changes.view().tag() + "\",\"reason\":\"load\"," + fields + "}";
    }

    private static final String LIMIT = "\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"3/10s\"";

    private String limitChange() {
        return body(LIMIT + ",\"for\":\"2h\"");
    }

    /** Returns the status of a change of the limit that is sent with the given header fields only. */
    private int status(String path, String... headers) throws Exception {
        return client.send("POST", path, limitChange(), headers).status();
    }

    @Test
    void changesAPolicy() throws Exception {
        Response response = post(PATH, limitChange());
        assertThat(response.status()).isEqualTo(200);
        JsonObject change = json(response).getJsonObject("change");
        assertThat(change.getInt("number")).isEqualTo(1);
        assertThat(change.getJsonObject("values").getString("limit")).isEqualTo("3/10s");
        assertThat(change.getJsonObject("before").getString("limit")).isEqualTo("5/10s");
        assertThat(change.getString("author")).isEqualTo("ann");
        assertThat(change.getJsonNumber("until").longValue()
                        - change.getJsonNumber("at").longValue())
                .isEqualTo(7_200_000);
        JsonObject state = json(client.get(PATH + "?log=50", ANN));
        assertThat(state.getJsonArray("active")).containsExactly(change);
        assertThat(state.getJsonArray("log")).containsExactly(change);
        assertThat(state.getString("version")).isEqualTo(changes.view().tag());
        assertThat(state.getBoolean("mayChange")).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"kind\":\"override\",\"policy\":\"hello\",\"text\":\"tenant-7\",\"limit\":\"500/1m\" | OVERRIDE | text tenant-7",
                "\"kind\":\"block\",\"policy\":\"hello\",\"hashedKey\":\"i.~ab\"                    | BLOCK    | i.~ab",
                "\"kind\":\"block\",\"policy\":\"hello\",\"alternative\":\"0\",\"values\":[\"a\"]     | BLOCK    | 0a"
            })
    void changesOneKey(String fields, Kind kind, String key) throws Exception {
        Response response = post(PATH, body(fields));
        assertThat(response.status()).isEqualTo(200);
        assertThat(json(response).getJsonObject("change").getString("key")).isEqualTo(key);
        RuntimeChange made = changes.active.get(0);
        assertThat(made.subject().kind()).isEqualTo(kind);
        assertThat(made.subject().storedKey()).contains("k.secret " + key);
        assertThat(made.until()).isEmpty();
        assertThat(response.body() + client.get(PATH + "?log=9", ANN).body()).doesNotContain("secret");
    }

    @Test
    void undoesAChange() throws Exception {
        post(PATH, limitChange());
        Response response = post(PATH + "/undo", body("\"number\":\"1\""));
        assertThat(response.status()).isEqualTo(200);
        assertThat(json(response).getJsonObject("change").getInt("undoes")).isEqualTo(1);
        assertThat(changes.active).isEmpty();
        Response again = post(PATH + "/undo", body("\"number\":\"1\""));
        assertThat(again.status()).isEqualTo(422);
        assertThat(again.body()).contains("there is no such change");
    }

    @Test
    void undoesAnUndoOfAChangeThatHasNotEnded() throws Exception {
        post(PATH, limitChange());
        post(PATH + "/undo", body("\"number\":\"1\""));
        assertThat(undoable()).containsExactly(true, false);
        Response again = post(PATH + "/undo", body("\"number\":\"2\""));
        assertThat(again.status()).isEqualTo(200);
        assertThat(json(again).getJsonObject("change").getJsonObject("values").getString("limit"))
                .isEqualTo("3/10s");
        assertThat(undoable()).as("an undo is undone once").containsExactly(true, false, false);
    }

    @Test
    void doesNotOfferAChangeThatHasEndedAgain() throws Exception {
        post(PATH, limitChange());
        post(PATH + "/undo", body("\"number\":\"1\""));
        RuntimeChange ended = changes.log.remove(1);
        changes.log.add(new RuntimeChange(
                1,
                ended.subject(),
                ended.values(),
                ended.before(),
                ended.author(),
                ended.reason(),
                ended.at(),
                Optional.of(ended.at().minusSeconds(1)),
                OptionalLong.empty()));
        assertThat(undoable()).containsExactly(false, false);
    }

    private List<Boolean> undoable() throws Exception {
        return json(client.get(PATH + "?log=9", ANN)).getJsonArray("log").getValuesAs(JsonObject.class).stream()
                .map(change -> change.getBoolean("undoable"))
                .toList();
    }

    @Test
    void aConflictReturnsTheCurrentState() throws Exception {
        String old = limitChange();
        assertThat(post(PATH, limitChange()).status()).isEqualTo(200);
        Response response = post(PATH, old.replace("3/10s", "4/10s"));
        assertThat(response.status()).isEqualTo(409);
        JsonObject state = json(response).getJsonObject("state");
        assertThat(state.getString("version")).isEqualTo(changes.view().tag());
        assertThat(state.getJsonArray("active")).hasSize(1);
        assertThat(post(PATH + "/undo", "{\"version\":\"\",\"number\":\"1\",\"reason\":\"x\"}")
                        .status())
                .isEqualTo(409);
        assertThat(changes.active).hasSize(1);
    }

    @Test
    void aReplayedRequestChangesNothing() throws Exception {
        String body = limitChange();
        assertThat(post(PATH, body).status()).isEqualTo(200);
        assertThat(post(PATH, body).status()).isEqualTo(409);
        String undo = body("\"number\":\"1\"");
        assertThat(post(PATH + "/undo", undo).status()).isEqualTo(200);
        assertThat(post(PATH + "/undo", undo).status()).isIn(409, 422);
        assertThat(changes.log).hasSize(2);
    }

    @Test
    void anInvalidValueHasTheProblemOfADeployment() throws Exception {
        Response response = post(PATH, limitChange().replace("3/10s", "3/10x"));
        assertThat(response.status()).isEqualTo(422);
        JsonObject problem = json(response).getJsonArray("problems").getJsonObject(0);
        assertThat(problem.getString("id")).isEqualTo("WEIR-111");
        assertThat(problem.getString("place")).isEqualTo("ratelimit.policies.hello.limit");
        assertThat(problem.getString("value")).isEqualTo("3/10x");
        assertThat(problem.getString("remedy")).isNotEmpty();
        assertThat(changes.log).isEmpty();
    }

    @Test
    void showsWhyAChangeIsNotInForce() throws Exception {
        post(PATH, limitChange());
        assertThat(json(client.get(PATH, ANN))
                        .getJsonArray("active")
                        .getJsonObject(0)
                        .getJsonArray("notInForce"))
                .isEmpty();
        changes.notInForce = Map.of(
                1L, List.of(new ConfigurationProblem("WEIR-235", "a.place", "3", "it has a client", "remove it")));
        JsonObject problem = json(client.get(PATH, ANN))
                .getJsonArray("active")
                .getJsonObject(0)
                .getJsonArray("notInForce")
                .getJsonObject(0);
        assertThat(problem.getString("id")).isEqualTo("WEIR-235");
        assertThat(problem.getString("problem")).isEqualTo("it has a client");
    }

    @Test
    void anUnavailableStoreIsReported() throws Exception {
        changes.failure = Optional.of(FakeOperations.unavailable());
        for (Response response : List.of(
                post(PATH, limitChange()),
                post(PATH, body("\"kind\":\"block\",\"policy\":\"hello\",\"text\":\"a\"")))) {
            assertThat(response.status()).isEqualTo(503);
            assertThat(json(response).getString("message"))
                    .contains("timeout", "Whether the change was made is unknown");
        }
        changes.failure = Optional.of(new ChangeUnsentException("breaker-open"));
        assertThat(json(post(PATH, limitChange())).getString("message"))
                .isEqualTo("The backend is unavailable: breaker-open. Nothing was changed.");
        changes.failure = Optional.of(FakeOperations.unavailable());
        JsonObject state = json(client.get(PATH + "?log=50", ANN));
        assertThat(state.isNull("log")).isTrue();
        assertThat(state.getString("logProblem")).isEqualTo("timeout");
    }

    private static final List<String> POSTS = List.of(PATH, PATH + "/undo", PATH + "/preview");

    @Test
    void disabledChangesAreNotFound() throws Exception {
        server.operations.changes = Optional.empty();
        for (String path : POSTS) {
            for (String method : List.of("GET", "HEAD", "POST", "PUT", "OPTIONS")) {
                assertThat(client.send(method, path, "", ANN, SAME, JSON).status())
                        .as(method)
                        .isEqualTo(404);
            }
        }
        assertThat(json(client.get("/ratelimit/api/v1/instances", ANN)).getBoolean("changes"))
                .isFalse();
    }

    @Test
    void onlyPostMakesChanges() throws Exception {
        for (String method : List.of("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "post")) {
            for (String path : POSTS) {
                client.send(
                        method,
                        path + "?version=&reason=x&kind=policy&policy=hello&limit=1/1s&number=1",
                        "",
                        ANN,
                        SAME,
                        JSON);
                client.send(method, path, limitChange(), ANN, SAME, JSON);
            }
        }
        assertThat(changes.log).isEmpty();
        assertThat(client.send("OPTIONS", PATH, "", ANN).field("Allow")).contains("GET, HEAD, POST, OPTIONS");
        assertThat(client.get(PATH + "/undo", ANN).status()).isEqualTo(405);
    }

    @Test
    void requiresBothRoles() throws Exception {
        for (String path : POSTS) {
            assertThat(status(path, SAME, JSON)).isEqualTo(401);
            Response response = client.send("POST", path, limitChange(), PageClient.basic("operator"), SAME, JSON);
            assertThat(response.status()).isEqualTo(403);
            assertThat(response.body()).contains("ratelimit.changes.role");
            assertThat(status(path, PageClient.basic("changer"), SAME, JSON)).isEqualTo(403);
        }
        assertThat(json(client.get(PATH, PageClient.basic("operator"))).getBoolean("mayChange"))
                .isFalse();
        assertThat(client.get(PATH).status()).isEqualTo(401);
        assertThat(changes.log).isEmpty();
    }

    @Test
    void blocksAreMadeByChanges() throws Exception {
        String root = "/ratelimit/api/v1/callers/";
        String block = "{\"policy\":\"hello\",\"text\":\"a\",\"duration\":\"1h\",\"reason\":\"x\"}";
        String unblock = block.replace(",\"duration\":\"1h\"", "");
        for (String path : List.of(root + "block", root + "unblock")) {
            assertThat(client.send("POST", path, block, PageClient.basic("operator"), SAME, JSON)
                            .status())
                    .isEqualTo(403);
        }
        assertThat(post(root + "block", block).status()).isEqualTo(409);
        assertThat(post(root + "unblock", unblock).status()).isEqualTo(200);
        assertThat(post(PATH, body("\"kind\":\"block\",\"policy\":\"hello\",\"text\":\"a\""))
                        .status())
                .isEqualTo(200);
        Response blocked = post(root + "unblock", unblock);
        assertThat(blocked.status()).isEqualTo(409);
        assertThat(blocked.body()).contains("Change 1 blocks this key");
        String reset = "{\"policy\":\"hello\",\"text\":\"a\"}";
        assertThat(client.send("POST", root + "reset", reset, PageClient.basic("operator"), SAME, JSON)
                        .status())
                .as("a reset ends the block")
                .isEqualTo(409);
        assertThat(server.operations.calls).hasSize(1);
    }

    @Test
    void anOpenConsoleDoesNotOpenChanges() throws Exception {
        server.operations.access = new Access(true, Optional.empty(), true);
        assertThat(status(PATH, SAME, JSON)).isEqualTo(401);
        assertThat(json(client.get(PATH)).getBoolean("mayChange")).isFalse();
        assertThat(post(PATH, limitChange()).status()).isEqualTo(200);
    }

    @Test
    void anApplicationWithoutLoginHasNoChanges() throws Exception {
        try (PageServer open = PageServer.start()) {
            FakeRuntimeChanges others = new FakeRuntimeChanges(open.operations);
            open.operations.changes = Optional.of(others);
            assertThat(new PageClient(open.port()).post(PATH, limitChange()).status())
                    .isEqualTo(403);
            assertThat(others.log).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Site: same-site",
                "Sec-Fetch-Site: none",
                "Origin: null",
                "Origin: https://evil.example",
                "Origin: http://127.0.0.1",
                "X-Requested-With: XMLHttpRequest",
                "Referer: http://127.0.0.1/app/ratelimit/"
            })
    void rejectsRequestsOfOtherSites(String field) throws Exception {
        for (String path : POSTS) {
            assertThat(status(path, ANN, JSON, field)).isEqualTo(403);
        }
        assertThat(changes.log).isEmpty();
    }

    /** The browser of an operator resolves a name of an attacker to the application, and sends no credentials for that name. */
    @Test
    void rebindingHasNoCredentials() throws Exception {
        String evil = "evil.example:" + server.port();
        for (String path : POSTS) {
            assertThat(status(path, JSON, SAME, "Host: " + evil, "Origin: http://" + evil))
                    .isEqualTo(401);
        }
        assertThat(status(PATH, ANN, JSON, "Host: 127.0.0.1:" + server.port(), "Origin: http://" + evil))
                .isEqualTo(403);
        assertThat(status(PATH, ANN, JSON, "Host: " + evil, "Origin: http://127.0.0.1:" + server.port()))
                .isEqualTo(403);
        assertThat(changes.log).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
                "text/plain",
                "text/plain; application/json",
                "application/json; charset=utf-16"
            })
    void rejectsForms(String type) throws Exception {
        for (String path : POSTS) {
            assertThat(status(path, ANN, SAME, "Content-Type: " + type)).isEqualTo(415);
        }
        assertThat(changes.log).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "null",
                "{}",
                "{\"version\":1}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"other\",\"policy\":\"hello\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":[\"policy\"],\"policy\":\"hello\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"policy\",\"limit\":\"1/1s\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"policy\",\"policy\":[\"hello\"],\"limit\":\"1/1s\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":[\"1/1s\"]}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":5}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"1/1s\",\"limit\":\"2/1s\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"policy\",\"policy\":\"hello\",\"key\":\"global\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"policy\",\"policy\":\"hello\",\"text\":\"a\",\"limit\":\"1/1s\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"policy\",\"policy\":\"hello\",\"__proto__\":\"a\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"override\",\"policy\":\"hello\",\"limit\":\"1/1s\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"override\",\"policy\":\"hello\",\"text\":\"a\",\"mode\":\"off\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"block\",\"policy\":\"hello\",\"text\":\"a\",\"limit\":\"1/1s\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"block\",\"policy\":\"hello\",\"text\":\"a\",\"hashedKey\":\"b\"}",
                "{\"version\":\"\",\"reason\":\"x\",\"kind\":\"block\",\"policy\":\"other\",\"text\":\"a\"}",
                "{\"reason\":\"x\",\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"1/1s\"}",
                "{\"version\":\"\",\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"1/1s\"}",
            })
    void rejectsInvalidRequests(String body) throws Exception {
        Response response = post(PATH, body);
        assertThat(response.status()).isEqualTo(400);
        assertThat(json(response).getString("message")).isNotBlank();
        assertThat(post(PATH + "/undo", body).status()).isEqualTo(400);
        assertThat(changes.log).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "0s", "999ms", "1", "-1h", "1w", "367d", "999999999999999999d", "2h; drop", "PT2H", "\u0662h"
            })
    void rejectsInvalidTimes(String time) throws Exception {
        Response response = post(PATH, limitChange().replace("2h", time));
        assertThat(response.status()).isEqualTo(400);
        assertThat(changes.log).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "1.0", "x", "99999999999999999999"})
    void rejectsInvalidNumbers(String number) throws Exception {
        post(PATH, limitChange());
        assertThat(post(PATH + "/undo", body("\"number\":\"" + number + "\"")).status())
                .isEqualTo(400);
        assertThat(changes.active).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "1001", "x", "-1"})
    void rejectsInvalidLengthsOfTheLog(String count) throws Exception {
        assertThat(client.get(PATH + "?log=" + count, ANN).status()).isEqualTo(400);
    }

    @Test
    void rejectsManyAttributesAndLargeBodies() throws Exception {
        String attributes =
                IntStream.range(0, 10_000).mapToObj(i -> "\"a" + i + "\":\"1\"").collect(Collectors.joining(","));
        assertThat(post(PATH, body(LIMIT + "," + attributes)).status()).isEqualTo(413);
        String fewer =
                IntStream.range(0, 700).mapToObj(i -> "\"" + i + "\":\"\"").collect(Collectors.joining(","));
        assertThat(post(PATH, body(LIMIT + "," + fewer)).status()).isEqualTo(400);
        assertThat(post(PATH, limitChange() + " ".repeat(PostedJson.MAX_BYTES)).status())
                .isEqualTo(413);
        assertThat(changes.log).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\\u0000", "\\n", "\\u001b[31m", "\\u0085"})
    void rejectsControlCharactersInReasons(String text) throws Exception {
        assertThat(post(PATH, limitChange().replace("load", "load" + text)).status())
                .isEqualTo(422);
        assertThat(post(PATH, limitChange().replace("load", "x".repeat(201))).status())
                .isEqualTo(422);
        assertThat(post(PATH, limitChange().replace("load", "")).status()).isEqualTo(422);
        assertThat(changes.log).isEmpty();
    }

    @Test
    void responsesCannotContainMarkupAndCannotBeFramed() throws Exception {
        assertThat(post(PATH, limitChange().replace("load", "</script><img src=x onerror=alert(1)>"))
                        .status())
                .isEqualTo(200);
        Response state = client.get(PATH + "?log=50", ANN);
        assertThat(state.body()).doesNotContain("<").contains("\\u003cimg");
        for (Response response : List.of(
                state,
                post(PATH, limitChange()),
                post(PATH, "{}"),
                post(PATH, limitChange().replace("1-", "9-")))) {
            assertThat(response.field("X-Frame-Options")).contains("DENY");
            assertThat(response.field("Content-Security-Policy").orElseThrow()).contains("frame-ancestors 'none'");
            assertThat(response.field("Content-Type").orElseThrow()).startsWith("application/json");
            PageClient.COMMON_HEADERS.forEach(
                    (name, value) -> assertThat(response.field(name)).as(name).contains(value));
        }
    }

    private void busy() {
        List<TopKeys.Entry> entries = List.of(
                new TopKeys.Entry("k.secret i.heavy", 400, 420, 1), new TopKeys.Entry("k.secret i.light", 299, 305, 1));
        server.operations.top = new TopKeys(entries, entries, List.of(), Duration.ofMinutes(5));
        ChangesBrowserTest.decideOnce(server);
    }

    private JsonObject preview(String fields) throws Exception {
        Response response = post(PATH + "/preview", "{" + fields + "}");
        assertThat(response.status()).isEqualTo(200);
        return json(response);
    }

    @Test
    void previewEstimatesTheRejectionsFromCounts() throws Exception {
        busy();
        JsonObject preview = preview("\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"1000/1h, 50/1m\"");
        assertThat(preview.getJsonObject("before").getString("limit")).isEqualTo("5/10s");
        assertThat(preview.getJsonObject("after").getString("limit")).isEqualTo("1000/1h, 50/1m");
        assertThat(preview.getJsonObject("before").getString("mode")).isEqualTo("enforce");
        JsonObject estimate = preview.getJsonObject("estimate");
        assertThat(estimate.getInt("listedKeys")).isEqualTo(2);
        // 50 per minute are at most 300 in five minutes that touch six windows.
        assertThat(estimate.getJsonArray("limits").toString())
                .isEqualTo(
                        "[{\"limit\":\"1000/1h\",\"periodMillis\":300000,\"allowed\":2000,\"keys\":0,\"callsAtLeast\":0},"
                                + "{\"limit\":\"50/1m\",\"periodMillis\":300000,\"allowed\":300,\"keys\":1,\"callsAtLeast\":100}]");
        assertThat(estimate.getJsonArray("keys").toString())
                .isEqualTo(
                        "[{\"key\":\"i.heavy\",\"limit\":\"50/1m\",\"periodMillis\":300000,\"calls\":400,\"allowed\":300,\"atLeast\":100}]");
        assertThat(estimate.getInt("decidedLastMinute")).isEqualTo(1);
        assertThat(changes.log).isEmpty();
    }

    @Test
    void previewOfAKeyConsidersThatKeyOnly() throws Exception {
        busy();
        JsonObject block = preview("\"kind\":\"block\",\"policy\":\"hello\",\"hashedKey\":\"i.heavy\"");
        assertThat(block.getString("key")).isEqualTo("i.heavy");
        assertThat(rejectedAtLeast(block)).isEqualTo(400);
        JsonObject override =
                preview("\"kind\":\"override\",\"policy\":\"hello\",\"hashedKey\":\"i.light\",\"limit\":\"1/1m\"");
        assertThat(override.getJsonObject("estimate").getInt("listedKeys")).isEqualTo(1);
        assertThat(rejectedAtLeast(override)).isEqualTo(293);
    }

    @Test
    void previewOfAKeyTellsWhetherItsPolicyIsEnforced() throws Exception {
        String block = "\"kind\":\"block\",\"policy\":\"hello\",\"hashedKey\":\"i.heavy\"";
        assertThat(preview(block).getBoolean("enforced")).isTrue();
        server.operations.policies.set(0, FakeOperations.staged("hello", 10));
        assertThat(preview(block).getBoolean("enforced")).isFalse();
        assertThat(preview(LIMIT).isNull("enforced")).isTrue();
    }

    private static int rejectedAtLeast(JsonObject preview) {
        return preview.getJsonObject("estimate")
                .getJsonArray("limits")
                .getJsonObject(0)
                .getInt("callsAtLeast");
    }

    /** Makes the calls of one key, whose counts begin at a time that does not change. */
    private void callsOfAKey(long calls) {
        Duration period = Duration.ofNanos(server.nanos.get());
        server.operations.top = new TopKeys(
                List.of(),
                List.of(
                        new TopKeys.Entry("k.secret i.steady", 1_000, 1_000, 1),
                        new TopKeys.Entry("k.secret i.burst", calls, calls, 1)),
                List.of(),
                period);
    }

    private void passSeconds(int seconds) {
        server.nanos.addAndGet(Duration.ofSeconds(seconds).toNanos());
    }

    @Test
    void previewFindsABurstOfTheLastMinute() throws Exception {
        server.nanos.set(Duration.ofMinutes(8).toNanos());
        ChangesBrowserTest.decideOnce(server);
        callsOfAKey(10);
        assertThat(preview("\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"50/1m\"")
                        .getJsonObject("estimate")
                        .getJsonArray("keys"))
                .hasSize(1);
        server.fleet.reports().run();
        passSeconds(50);
        // 210 calls in nearly nine minutes are no more than 50 per minute. 200 of them were made in 50 seconds.
        callsOfAKey(210);
        JsonObject estimate = preview("\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"50/1m\"")
                .getJsonObject("estimate");
        assertThat(estimate.getJsonArray("limits").toString())
                .isEqualTo(
                        "[{\"limit\":\"50/1m\",\"periodMillis\":531000,\"allowed\":500,\"keys\":1,\"callsAtLeast\":500}]");
        JsonObject tight = preview(
                        "\"kind\":\"override\",\"policy\":\"hello\",\"hashedKey\":\"i.burst\",\"limit\":\"50/1m\"")
                .getJsonObject("estimate");
        assertThat(tight.getJsonArray("limits").toString())
                .isEqualTo(
                        "[{\"limit\":\"50/1m\",\"periodMillis\":50000,\"allowed\":100,\"keys\":1,\"callsAtLeast\":100}]");
    }

    @Test
    void previewOfAnOverrideHasNoValuesOfTheOverrideThatItReplaces() throws Exception {
        busy();
        RuntimeChange.Subject subject =
                new RuntimeChange.Subject(Kind.OVERRIDE, "hello", Optional.of("k.secret i.light"));
        changes.make(
                new ChangeRequest(subject, Map.of("limit", "9/1m", "concurrency", "3"), Optional.empty(), "x", "ben"),
                changes.view().tag());
        JsonObject preview =
                preview("\"kind\":\"override\",\"policy\":\"hello\",\"hashedKey\":\"i.light\",\"limit\":\"1/1m\"");
        assertThat(preview.getJsonObject("before").getString("concurrency")).isEqualTo("3");
        assertThat(preview.getJsonObject("after").toString()).isEqualTo("{\"limit\":\"1/1m\"}");
    }

    @Test
    void anAttributeWithoutAnEffectIsAWarningOfThePreviewAndOfTheChange() throws Exception {
        String share = "\"kind\":\"policy\",\"policy\":\"hello\",\"enforce-percent\":\"10\"";
        String warning = "WEIR-015 enforce-percent has no effect unless mode has a value such as shadow";
        assertThat(preview(share).getJsonArray("warnings").getString(0)).startsWith(warning);
        assertThat(preview(share + ",\"mode\":\"shadow\"").getJsonArray("warnings"))
                .isEmpty();
        Response made = post(PATH, "{\"version\":\"\",\"reason\":\"try\"," + share + "}");
        assertThat(made.status()).isEqualTo(200);
        assertThat(json(made).getJsonArray("warnings").getString(0)).startsWith(warning);
    }

    @Test
    void previewReturnsTheProblems() throws Exception {
        JsonObject preview = preview("\"kind\":\"policy\",\"policy\":\"other\",\"limit\":\"x\"");
        assertThat(preview.getJsonArray("problems")).hasSize(2);
        assertThat(preview.isNull("estimate")).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "fixed-window,   10/1m,     ,  60",
        "sliding-log,    10/2m,     ,  40",
        "sliding-window, 1000/1h,   ,  2000",
        "sliding-window, 100/month, ,  200",
        "token-bucket,   10/1m,     ,  60",
        "token-bucket,   10/1m,     25, 75",
        "leaky-bucket,   10/1m,     1, 51",
        "fixed-window,   0/1m,      ,  0",
        "fixed-window,   281474976710654/1ms, , 9007199254740992"
    })
    void boundsTheAllowedCalls(String algorithm, String limit, String burst, long calls) {
        assertThat(AllowedCalls.of(limit, algorithm, burst, Duration.ofMinutes(5)))
                .singleElement()
                .extracting(AllowedCalls::calls)
                .isEqualTo(calls);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "1", "1/x", "1/0s", "/", "1/1m,"})
    void otherTextHasNoEstimate(String limits) {
        assertThat(AllowedCalls.of(limits, "fixed-window", null, Duration.ofMinutes(5)))
                .isEmpty();
    }
}
