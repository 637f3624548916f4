// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.PageClient.Response;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.operations.Access;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.StringReader;
import java.time.ZonedDateTime;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The responses of the console servlet. */
class ConsoleServletTest {
    private static final String HELLO = "{\"policy\":\"hello\",\"alternative\":\"0\",\"values\":[\"203.0.113.7\"]}";

    private PageServer server;
    private PageClient client;

    @BeforeEach
    void start() throws Exception {
        server = PageServer.start();
        client = new PageClient(server.port());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void redirectsToThePathWithASlash() throws Exception {
        Response response = client.get("/ratelimit");
        assertThat(response.status()).isEqualTo(302);
        assertThat(response.field("Location")).contains("ratelimit/");
    }

    @ParameterizedTest
    @CsvSource({
        "/ratelimit/,            text/html",
        "/ratelimit/console.js,  text/javascript",
        "/ratelimit/console.css, text/css",
        "/ratelimit/icon.svg,    image/svg+xml",
        "/ratelimit/api/v1/instances,       application/json"
    })
    void assetsHaveTheirTypeAndTheCommonHeaders(String path, String type) throws Exception {
        Response response = client.get(path);
        assertThat(response.status()).isEqualTo(200);
        assertThat(response.field("Content-Type").orElseThrow().replace(" ", ""))
                .isEqualToIgnoringCase(type + ";charset=utf-8");
        assertThat(response.body()).isNotEmpty();
        assertHeaders(response);
    }

    private static void assertHeaders(Response response) {
        PageClient.COMMON_HEADERS.forEach(
                (name, value) -> assertThat(response.field(name)).as(name).contains(value));
        assertThat(response.field("Content-Security-Policy"))
                .contains(
                        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HEAD    | /ratelimit/api/v1/instances | 200 |",
                "OPTIONS | /ratelimit/api/v1/instances | 204 | GET, HEAD, OPTIONS",
                "OPTIONS | /ratelimit/api/v1/callers/reset | 204 | POST, OPTIONS",
                "POST    | /ratelimit/api/v1/instances | 405 | GET, HEAD, OPTIONS",
                "POST    | /ratelimit       | 405 | GET, HEAD, OPTIONS",
                "DELETE  | /ratelimit/      | 405 | GET, HEAD, OPTIONS",
                "GET     | /ratelimit/api/v1/callers/reset | 405 | POST, OPTIONS",
                "HEAD    | /ratelimit/api/v1/callers/reset | 405 | POST, OPTIONS",
                "PUT     | /ratelimit/api/v1/callers/reset | 405 | POST, OPTIONS",
                "GET     | /ratelimit/api/v1/callers/peek  | 405 | POST, OPTIONS",
                "get     | /ratelimit/api/v1/instances | 405 | GET, HEAD, OPTIONS",
                "GET     | /ratelimit/other | 404 |",
                "GET     | /ratelimit/page/index.html | 404 |"
            })
    void allowsTheMethodsOfEachPath(String method, String path, int status, String allow) throws Exception {
        Response response = client.send(method, path, "");
        assertThat(response.status()).isEqualTo(status);
        assertThat(response.field("Allow")).isEqualTo(Optional.ofNullable(allow));
        assertHeaders(response);
        if (method.equals("HEAD")) {
            assertThat(response.body()).isEmpty();
        }
        assertThat(server.operations.calls).isEmpty();
    }

    @Test
    void apiHasPoliciesAndTheirSources() throws Exception {
        JsonObject state = json(client.get("/ratelimit/api/v1/policies"));
        JsonObject hello = state.getJsonArray("policies").getJsonObject(0);
        assertThat(hello.getString("name")).isEqualTo("hello");
        assertThat(hello.getJsonArray("settings").getJsonObject(0).getString("source"))
                .isEqualTo("application.properties");
        assertThat(json(client.get("/ratelimit/api/v1/instances"))
                        .getJsonArray("instances")
                        .getJsonObject(0)
                        .getJsonObject("backend")
                        .getString("state"))
                .isEqualTo("up");
    }

    @Test
    void showsTheEndOfThePeriodOfACalendarLimit() throws Exception {
        server.operations.periodEnd = ZonedDateTime.parse("2026-12-01T00:00:00+01:00[Europe/Berlin]");

        JsonObject found = json(client.post("/ratelimit/api/v1/callers/peek", HELLO));

        assertThat(found.getJsonArray("quotas").getJsonObject(0).getString("periodEnd"))
                .isEqualTo("1 December 00:00 Europe/Berlin");
    }

    @Test
    void looksUpAndResetsACaller() throws Exception {
        JsonObject found = json(client.post("/ratelimit/api/v1/callers/peek", HELLO));
        assertThat(found.getJsonArray("quotas").getJsonObject(0).getInt("remaining"))
                .isEqualTo(2);
        assertThat(found.toString()).doesNotContain("k.secret");
        assertThat(json(client.post("/ratelimit/api/v1/callers/reset", HELLO)).getString("policy"))
                .isEqualTo("hello");
        assertThat(server.operations.calls).containsExactly("peek hello 0203.0.113.7 ", "reset hello 0203.0.113.7");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"policy\":\"plan\",\"hashedKey\":\"i:abc\",\"tier\":\"free\"} | peek plan i:abc free",
                "{\"policy\":\"plan\",\"text\":\"tenant-7\"}                 | peek plan text tenant-7"
            })
    void identifiesACallerByHashedKeyOrText(String body, String call) throws Exception {
        assertThat(client.post("/ratelimit/api/v1/callers/peek", body).status()).isEqualTo(200);
        assertThat(server.operations.calls.get(0).strip()).isEqualTo(call);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "[]",
                "{\"policy\":\"hello\"}",
                "{\"policy\":\"hello\",\"hashedKey\":\"a\",\"text\":\"b\"}",
                "{\"policy\":\"hello\",\"hashedKey\":\"a\",\"x\":\"b\"}",
                "{\"policy\":\"hello\",\"hashedKey\":[\"a\"]}",
                "{\"policy\":\"hello\",\"text\":\" \"}",
                "{\"policy\":\"other\",\"hashedKey\":\"a\"}",
                "{\"policy\":\"hello\",\"values\":[\"a\"]}",
                "{\"policy\":\"hello\",\"alternative\":\"-1\",\"values\":[\"a\"]}",
                "{\"policy\":\"hello\",\"alternative\":\"9\",\"values\":[\"a\"]}",
                "{\"policy\":\"hello\",\"alternative\":\"0\",\"values\":\"a\"}",
                "{\"policy\":\"hello\",\"alternative\":\"0\",\"values\":[\"a\",\"b\"]}",
            })
    void rejectsInvalidRequests(String body) throws Exception {
        for (String path : new String[] {"/ratelimit/api/v1/callers/peek", "/ratelimit/api/v1/callers/reset"}) {
            Response response = client.post(path, body);
            assertThat(response.status()).isEqualTo(400);
            assertThat(json(response).getString("message")).isNotBlank();
            assertHeaders(response);
        }
        assertThat(server.operations.calls).isEmpty();
    }

    @Test
    void rejectsAResetWithATier() throws Exception {
        assertThat(client.post("/ratelimit/api/v1/callers/reset", HELLO.replace("}", ",\"tier\":\"free\"}"))
                        .status())
                .isEqualTo(400);
    }

    @Test
    void rejectsALargeBodyWithAndWithoutContentLength() throws Exception {
        String large = HELLO.replace("203.0.113.7", "x".repeat(PostedJson.MAX_BYTES));
        assertThat(client.post("/ratelimit/api/v1/callers/peek", large).status())
                .isEqualTo(413);
        assertThat(client.send(
                                "POST",
                                "/ratelimit/api/v1/callers/peek",
                                Integer.toHexString(large.length()) + "\r\n" + large + "\r\n0\r\n\r\n",
                                "Sec-Fetch-Site: same-origin",
                                "Content-Type: application/json",
                                "Transfer-Encoding: chunked")
                        .status())
                .isEqualTo(413);
        assertThat(server.operations.calls).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
                "text/plain",
                "application/json5",
                "application/json; charset=utf-16",
                "text/plain; application/json"
            })
    void rejectsOtherMediaTypes(String type) throws Exception {
        Response response = client.send(
                "POST",
                "/ratelimit/api/v1/callers/reset",
                HELLO,
                "Sec-Fetch-Site: same-origin",
                "Content-Type: " + type);
        assertThat(response.status()).isEqualTo(415);
        assertThat(server.operations.calls).isEmpty();
    }

    @Test
    void acceptsJsonWithACharset() throws Exception {
        assertThat(client.send(
                                "POST",
                                "/ratelimit/api/v1/callers/peek",
                                HELLO,
                                "Sec-Fetch-Site: same-origin",
                                "Content-Type: Application/JSON; charset=\"UTF-8\"")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void rejectsRequestsOfOtherSites() throws Exception {
        Response response = client.send(
                "POST",
                "/ratelimit/api/v1/callers/reset",
                HELLO,
                "Sec-Fetch-Site: cross-site",
                "Content-Type: application/json");
        assertThat(response.status()).isEqualTo(403);
        assertThat(server.operations.calls).isEmpty();
    }

    @Test
    void acceptsRequestsWithTheSameOrigin() throws Exception {
        assertThat(client.send(
                                "POST",
                                "/ratelimit/api/v1/callers/reset",
                                HELLO,
                                "Origin: http://127.0.0.1:" + server.port(),
                                "Content-Type: application/json")
                        .status())
                .isEqualTo(200);
    }

    private static String withReason(String reason, String more) {
        return HELLO.replace("}", ",\"reason\":\"" + reason + "\"" + more + "}");
    }

    @Test
    void blocksAndUnblocksACaller() throws Exception {
        try (LogCapture log = new LogCapture()) {
            Response blocked =
                    client.post("/ratelimit/api/v1/callers/block", withReason(" ticket 12 ", ",\"duration\":\"90m\""));
            assertThat(blocked.status()).isEqualTo(200);
            assertThat(json(blocked).getInt("blockedMillis")).isEqualTo(5_400_000);
            assertThat(json(client.post("/ratelimit/api/v1/callers/peek", HELLO))
                            .getInt("blockedMillis"))
                    .isEqualTo(5_400_000);
            assertThat(json(client.get("/ratelimit/api/v1/callers")).getJsonArray("blocked"))
                    .hasSize(1);
            Response unblocked = client.post("/ratelimit/api/v1/callers/unblock", withReason("a mistake", ""));
            assertThat(json(unblocked).getInt("blockedMillis")).isZero();
            assertThat(json(client.get("/ratelimit/api/v1/callers")).getJsonArray("blocked"))
                    .isEmpty();
            assertThat(server.operations.calls)
                    .containsExactly(
                            "block hello 0203.0.113.7 PT1H30M",
                            "peek hello 0203.0.113.7 ",
                            "unblock hello 0203.0.113.7");
            assertThat(log.lines())
                    .anyMatch(line -> line.contains("WEIR-442 Key 0203.0.113.7 of policy hello was blocked by an"
                            + " anonymous user for 90m. Reason: ticket 12."))
                    .anyMatch(line -> line.contains("WEIR-443 Key 0203.0.113.7 of policy hello was unblocked by an"
                            + " anonymous user. Reason: a mistake."));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"duration\":\"1h\"}",
                "{\"reason\":\"x\"}",
                "{\"reason\":\"\",\"duration\":\"1h\"}",
                "{\"reason\":\"   \",\"duration\":\"1h\"}",
                "{\"reason\":\"a\\nWEIR-443\",\"duration\":\"1h\"}",
                "{\"reason\":\"a\\u202eb\",\"duration\":\"1h\"}",
                "{\"reason\":\"a\\u2028b\",\"duration\":\"1h\"}",
                "{\"reason\":[\"a\"],\"duration\":\"1h\"}",
                "{\"reason\":\"x\",\"duration\":\"an hour\"}",
                "{\"reason\":\"x\",\"duration\":\"-1h\"}",
                "{\"reason\":\"x\",\"duration\":\"1h\",\"tier\":\"free\"}"
            })
    void rejectsInvalidBlocks(String fields) throws Exception {
        String body = fields.equals("{}") ? HELLO : HELLO.replace("}", "," + fields.substring(1));
        assertThat(client.post("/ratelimit/api/v1/callers/block", body).status())
                .isEqualTo(400);
        assertThat(server.operations.calls).isEmpty();
    }

    @Test
    void rejectsALongReasonAndADurationOfAnUnblock() throws Exception {
        String path = "/ratelimit/api/v1/callers/unblock";
        assertThat(client.post(path, withReason("x".repeat(201), "")).status()).isEqualTo(400);
        assertThat(client.post(path, withReason("x", ",\"duration\":\"1h\"")).status())
                .isEqualTo(400);
        assertThat(server.operations.calls).isEmpty();
        assertThat(client.post(path, withReason("x".repeat(200), "")).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"block", "unblock"})
    void blocksRequireThePageAndTheRole(String change) throws Exception {
        String path = "/ratelimit/api/v1/callers/" + change;
        String body = withReason("x", change.equals("block") ? ",\"duration\":\"1h\"" : "");
        assertThat(client.send("POST", path, body, "Sec-Fetch-Site: cross-site", "Content-Type: application/json")
                        .status())
                .isEqualTo(403);
        assertThat(client.get(path).status()).isEqualTo(405);
        server.operations.access = new Access(true, Optional.empty(), false);
        assertThat(client.post(path, body).status()).isEqualTo(403);
        assertThat(server.operations.calls).isEmpty();
    }

    @Test
    void logsABlockInDoubt() throws Exception {
        server.operations.failure = Optional.of(FakeOperations.unavailable());
        try (LogCapture log = new LogCapture()) {
            assertThat(client.post("/ratelimit/api/v1/callers/block", withReason("x", ",\"duration\":\"1h\""))
                            .status())
                    .isEqualTo(503);
            assertThat(client.post("/ratelimit/api/v1/callers/unblock", withReason("x", ""))
                            .status())
                    .isEqualTo(503);
            assertThat(log.lines())
                    .anyMatch(line -> line.contains("WEIR-442") && line.contains("may have been blocked"))
                    .anyMatch(line -> line.contains("WEIR-443") && line.contains("may have been unblocked"));
        }
    }

    @Test
    void aBackendWithoutBlocksIsNamed() throws Exception {
        server.operations.failure = Optional.of(new UnsupportedOperationException());
        Response response = client.post("/ratelimit/api/v1/callers/unblock", withReason("x", ""));
        assertThat(response.status()).isEqualTo(400);
        assertThat(json(response).getString("message")).isEqualTo("the backend cannot block keys");
    }

    @Test
    void reportsAnUnavailableBackend() throws Exception {
        server.operations.failure = Optional.of(FakeOperations.unavailable());
        Response response = client.post("/ratelimit/api/v1/callers/reset", HELLO);
        assertThat(response.status()).isEqualTo(503);
        assertThat(json(response).getString("message"))
                .contains("timeout", "The result of a change of the caller is unknown");
    }

    @Test
    void failureDisclosesNoDetails() throws Exception {
        server.operations.failure = Optional.of(new IllegalStateException("redis://user:password@host"));
        Response response = client.post("/ratelimit/api/v1/callers/peek", HELLO);
        assertThat(response.status()).isEqualTo(500);
        assertThat(response.body()).doesNotContain("password", "Exception").contains("WEIR-505");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ratelimit", "/ratelimit/", "/ratelimit/api/v1/instances", "/ratelimit/other"})
    void disabledConsoleIsNotFound(String path) throws Exception {
        server.operations.access = new Access(false, Optional.empty(), false);
        Response response = client.get(path);
        assertThat(response.status()).isEqualTo(404);
        assertThat(response.field("Content-Security-Policy")).isEmpty();
        assertThat(client.post(path, HELLO).status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ratelimit/", "/ratelimit/api/v1/instances", "/ratelimit/other"})
    void consoleWithoutRoleIsClosed(String path) throws Exception {
        server.operations.access = new Access(true, Optional.empty(), false);
        Response response = client.get(path);
        assertThat(response.status()).isEqualTo(403);
        assertThat(response.body()).contains("ratelimit.console.role", "ratelimit.console.open");
        assertHeaders(response);
        assertThat(client.post("/ratelimit/api/v1/callers/reset", HELLO).status())
                .isEqualTo(403);
        assertThat(server.operations.calls).isEmpty();
    }

    @Test
    void rejectsEveryoneIfTheApplicationHasNoLogin() throws Exception {
        server.operations.access = new Access(true, Optional.of("operator"), false);
        assertThat(client.get("/ratelimit/").status()).isEqualTo(403);
        assertThat(client.post("/ratelimit/api/v1/callers/reset", HELLO).status())
                .isEqualTo(403);
        assertThat(server.operations.calls).isEmpty();
    }

    @Test
    void allowsOnlyUsersWithTheRole() throws Exception {
        try (PageServer secured = PageServer.withLogin()) {
            secured.operations.access = new Access(true, Optional.of("operator"), false);
            PageClient securedClient = new PageClient(secured.port());
            Response challenge = securedClient.get("/ratelimit/");
            assertThat(challenge.status()).isEqualTo(401);
            assertThat(challenge.field("WWW-Authenticate").orElseThrow()).startsWithIgnoringCase("Basic");
            assertThat(securedClient
                            .post("/ratelimit/api/v1/callers/reset", HELLO)
                            .status())
                    .isEqualTo(401);
            assertThat(securedClient
                            .get("/ratelimit/", PageClient.basic("other"))
                            .status())
                    .isEqualTo(403);
            assertThat(securedClient
                            .get("/ratelimit/", PageClient.basic("operator"))
                            .status())
                    .isEqualTo(200);
            assertThat(secured.operations.calls).isEmpty();
        }
    }

    private static JsonObject json(Response response) {
        return Json.createReader(new StringReader(response.body())).readObject();
    }
}
