// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.PageClient.Received;
import io.weir.ratelimit.interceptor.operate.Access;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.StringReader;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What requests are answered, over HTTP. */
class ConsoleServletTest {
    private static final String HELLO = "{\"policy\":\"hello\",\"alternative\":\"0\",\"parts\":[\"203.0.113.7\"]}";

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
    void theAddressWithoutSlashLeadsToTheOneWithRelatively() throws Exception {
        Received answer = client.get("/ratelimit");
        assertThat(answer.status()).isEqualTo(302);
        assertThat(answer.field("Location")).contains("ratelimit/");
    }

    @ParameterizedTest
    @CsvSource({
        "/ratelimit/,            text/html",
        "/ratelimit/console.js,  text/javascript",
        "/ratelimit/console.css, text/css",
        "/ratelimit/icon.svg,    image/svg+xml",
        "/ratelimit/state,       application/json"
    })
    void eachPartHasItsTypeAndTheHeadersOfAllAnswers(String path, String type) throws Exception {
        Received answer = client.get(path);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.field("Content-Type").orElseThrow().replace(" ", ""))
                .isEqualToIgnoringCase(type + ";charset=utf-8");
        assertThat(answer.body()).isNotEmpty();
        assertHeaders(answer);
    }

    private static void assertHeaders(Received answer) {
        PageClient.ALWAYS.forEach(
                (name, value) -> assertThat(answer.field(name)).as(name).contains(value));
        assertThat(answer.field("Content-Security-Policy"))
                .contains(
                        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HEAD    | /ratelimit/state | 200 |",
                "OPTIONS | /ratelimit/state | 204 | GET, HEAD, OPTIONS",
                "OPTIONS | /ratelimit/reset | 204 | POST, OPTIONS",
                "POST    | /ratelimit/state | 405 | GET, HEAD, OPTIONS",
                "POST    | /ratelimit       | 405 | GET, HEAD, OPTIONS",
                "DELETE  | /ratelimit/      | 405 | GET, HEAD, OPTIONS",
                "GET     | /ratelimit/reset | 405 | POST, OPTIONS",
                "HEAD    | /ratelimit/reset | 405 | POST, OPTIONS",
                "PUT     | /ratelimit/reset | 405 | POST, OPTIONS",
                "GET     | /ratelimit/peek  | 405 | POST, OPTIONS",
                "get     | /ratelimit/state | 405 | GET, HEAD, OPTIONS",
                "GET     | /ratelimit/other | 404 |",
                "GET     | /ratelimit/page/index.html | 404 |"
            })
    void aMethodDoesWhatItMayOrTheAnswerNamesThoseThatDo(String method, String path, int status, String allow)
            throws Exception {
        Received answer = client.send(method, path, "");
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.field("Allow")).isEqualTo(Optional.ofNullable(allow));
        assertHeaders(answer);
        if (method.equals("HEAD")) {
            assertThat(answer.body()).isEmpty();
        }
        assertThat(server.operations.done).isEmpty();
    }

    @Test
    void theStateTellsOfPoliciesAndTheirSources() throws Exception {
        JsonObject state = json(client.get("/ratelimit/state"));
        JsonObject hello = state.getJsonArray("policies").getJsonObject(0);
        assertThat(hello.getString("name")).isEqualTo("hello");
        assertThat(hello.getJsonArray("settings").getJsonObject(0).getString("source"))
                .isEqualTo("application.properties");
        assertThat(state.getJsonObject("store").getString("state")).isEqualTo("up");
    }

    @Test
    void aCallerIsLookedUpAndReset() throws Exception {
        JsonObject found = json(client.post("/ratelimit/peek", HELLO));
        assertThat(found.getJsonArray("quotas").getJsonObject(0).getInt("remaining"))
                .isEqualTo(2);
        assertThat(found.toString()).doesNotContain("k.secret");
        assertThat(json(client.post("/ratelimit/reset", HELLO)).getString("policy"))
                .isEqualTo("hello");
        assertThat(server.operations.done).containsExactly("peek hello 0203.0.113.7 ", "reset hello 0203.0.113.7");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"policy\":\"plan\",\"shown\":\"i:abc\",\"tier\":\"free\"} | peek plan i:abc free",
                "{\"policy\":\"plan\",\"code\":\"tenant-7\"}                 | peek plan code tenant-7"
            })
    void aCallerIsNamedByItsShownKeyOrByCode(String body, String done) throws Exception {
        assertThat(client.post("/ratelimit/peek", body).status()).isEqualTo(200);
        assertThat(server.operations.done.get(0).strip()).isEqualTo(done);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "[]",
                "{\"policy\":\"hello\"}",
                "{\"policy\":\"hello\",\"shown\":\"a\",\"code\":\"b\"}",
                "{\"policy\":\"hello\",\"shown\":\"a\",\"x\":\"b\"}",
                "{\"policy\":\"hello\",\"shown\":[\"a\"]}",
                "{\"policy\":\"hello\",\"code\":\" \"}",
                "{\"policy\":\"other\",\"shown\":\"a\"}",
                "{\"policy\":\"hello\",\"parts\":[\"a\"]}",
                "{\"policy\":\"hello\",\"alternative\":\"-1\",\"parts\":[\"a\"]}",
                "{\"policy\":\"hello\",\"alternative\":\"9\",\"parts\":[\"a\"]}",
                "{\"policy\":\"hello\",\"alternative\":\"0\",\"parts\":\"a\"}",
                "{\"policy\":\"hello\",\"alternative\":\"0\",\"parts\":[\"a\",\"b\"]}",
            })
    void whatDoesNotFitIsToldAndChangesNothing(String body) throws Exception {
        for (String path : new String[] {"/ratelimit/peek", "/ratelimit/reset"}) {
            Received answer = client.post(path, body);
            assertThat(answer.status()).isEqualTo(400);
            assertThat(json(answer).getString("message")).isNotBlank();
            assertHeaders(answer);
        }
        assertThat(server.operations.done).isEmpty();
    }

    @Test
    void aTierIsNoPartOfAReset() throws Exception {
        assertThat(client.post("/ratelimit/reset", HELLO.replace("}", ",\"tier\":\"free\"}"))
                        .status())
                .isEqualTo(400);
    }

    @Test
    void aLargeBodyIsRefusedWhetherItsLengthIsToldOrNot() throws Exception {
        String large = HELLO.replace("203.0.113.7", "x".repeat(PostedJson.LONGEST));
        assertThat(client.post("/ratelimit/peek", large).status()).isEqualTo(413);
        assertThat(client.send(
                                "POST",
                                "/ratelimit/peek",
                                Integer.toHexString(large.length()) + "\r\n" + large + "\r\n0\r\n\r\n",
                                "Sec-Fetch-Site: same-origin",
                                "Content-Type: application/json",
                                "Transfer-Encoding: chunked")
                        .status())
                .isEqualTo(413);
        assertThat(server.operations.done).isEmpty();
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
    void onlyJsonIsRead(String type) throws Exception {
        Received answer =
                client.send("POST", "/ratelimit/reset", HELLO, "Sec-Fetch-Site: same-origin", "Content-Type: " + type);
        assertThat(answer.status()).isEqualTo(415);
        assertThat(server.operations.done).isEmpty();
    }

    @Test
    void jsonMaySayThatItIsUtf8() throws Exception {
        assertThat(client.send(
                                "POST",
                                "/ratelimit/peek",
                                HELLO,
                                "Sec-Fetch-Site: same-origin",
                                "Content-Type: Application/JSON; charset=\"UTF-8\"")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void whatAnotherSiteSendsIsRefused() throws Exception {
        Received answer = client.send(
                "POST", "/ratelimit/reset", HELLO, "Sec-Fetch-Site: cross-site", "Content-Type: application/json");
        assertThat(answer.status()).isEqualTo(403);
        assertThat(server.operations.done).isEmpty();
    }

    @Test
    void aBrowserThatSaysNothingOfTheSiteIsToldByItsOrigin() throws Exception {
        assertThat(client.send(
                                "POST",
                                "/ratelimit/reset",
                                HELLO,
                                "Origin: http://127.0.0.1:" + server.port(),
                                "Content-Type: application/json")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void aStoreThatIsAwayIsToldWithoutATrace() throws Exception {
        server.operations.failure = Optional.of(FakeOperations.away());
        Received answer = client.post("/ratelimit/reset", HELLO);
        assertThat(answer.status()).isEqualTo(503);
        assertThat(json(answer).getString("message"))
                .contains("timeout", "Whether a reset has taken effect is not known");
    }

    @Test
    void aFailureShowsNothingOfItself() throws Exception {
        server.operations.failure = Optional.of(new IllegalStateException("redis://user:password@host"));
        Received answer = client.post("/ratelimit/peek", HELLO);
        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.body()).doesNotContain("password", "Exception").contains("WEIR-505");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ratelimit", "/ratelimit/", "/ratelimit/state", "/ratelimit/other"})
    void whatIsNotSwitchedOnIsNotThere(String path) throws Exception {
        server.operations.access = new Access(false, Optional.empty(), false);
        Received answer = client.get(path);
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.field("Content-Security-Policy")).isEmpty();
        assertThat(client.post(path, HELLO).status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ratelimit/", "/ratelimit/state", "/ratelimit/other"})
    void withoutRoleAndWithoutSayingOpenItIsClosedAndSaysWhy(String path) throws Exception {
        server.operations.access = new Access(true, Optional.empty(), false);
        Received answer = client.get(path);
        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.body()).contains("ratelimit.console.role", "ratelimit.console.open");
        assertHeaders(answer);
        assertThat(client.post("/ratelimit/reset", HELLO).status()).isEqualTo(403);
        assertThat(server.operations.done).isEmpty();
    }

    @Test
    void aRoleWithoutAnyWayToLogInLetsNobodyIn() throws Exception {
        server.operations.access = new Access(true, Optional.of("operator"), false);
        assertThat(client.get("/ratelimit/").status()).isEqualTo(403);
        assertThat(client.post("/ratelimit/reset", HELLO).status()).isEqualTo(403);
        assertThat(server.operations.done).isEmpty();
    }

    @Test
    void theContainersOwnLoginLetsTheRoleInAndNobodyElse() throws Exception {
        try (PageServer secured = PageServer.withLogin()) {
            secured.operations.access = new Access(true, Optional.of("operator"), false);
            PageClient caller = new PageClient(secured.port());
            Received challenge = caller.get("/ratelimit/");
            assertThat(challenge.status()).isEqualTo(401);
            assertThat(challenge.field("WWW-Authenticate").orElseThrow()).startsWithIgnoringCase("Basic");
            assertThat(caller.post("/ratelimit/reset", HELLO).status()).isEqualTo(401);
            assertThat(caller.get("/ratelimit/", PageClient.basic("other")).status())
                    .isEqualTo(403);
            assertThat(caller.get("/ratelimit/", PageClient.basic("operator")).status())
                    .isEqualTo(200);
            assertThat(secured.operations.done).isEmpty();
        }
    }

    private static JsonObject json(Received answer) {
        return Json.createReader(new StringReader(answer.body())).readObject();
    }
}
