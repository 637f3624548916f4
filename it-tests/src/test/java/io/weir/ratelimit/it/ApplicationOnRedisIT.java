// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The application contract with Redis, and requests of malicious clients. */
@Tag("ci")
@Tag("server")
class ApplicationOnRedisIT extends EnterpriseContract {
    private static final String NAMESPACE = "it-" + UUID.randomUUID();

    /** The length of the longest policy name and of two parts with at most 80 characters. */
    private static final int MAX_KEY_LENGTH = 300;

    /** The reply of Redis for a key without a TTL. The reply for an expired key is a different number. */
    private static final long NO_TTL = -1;

    @TempDir
    private static Path temp;

    private static RedisConnection redis;
    private static Server server;

    @BeforeAll
    static void start() throws Exception {
        RedisFixture fixture = RedisFixture.shared();
        redis = fixture.connect();
        server = LibertyServer.named("application")
                .war(TestWar.written(TestWar.application(), temp))
                .serverXml(Files.readString(Path.of("src/test/liberty/application.xml")))
                .serverXml("<server><httpEndpoint id=\"defaultHttpEndpoint\">"
                        + "<httpOptions limitFieldSize=\"32768\"/></httpEndpoint></server>")
                .systemProperty("ratelimit.redis.address", fixture.address())
                .systemProperty("ratelimit.redis.deadline", "5s")
                .systemProperty("ratelimit.namespace", NAMESPACE)
                .readyPath("api/entity/read")
                .start();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
        if (redis != null) {
            redis.drop("weir:2:{" + NAMESPACE + ":*");
            redis.close();
        }
    }

    @Override
    URI base() {
        return server.baseUri();
    }

    @AfterEach
    void redisKeysAreEncodedBoundedAndExpire() {
        assertThat(keys())
                .isNotEmpty()
                .allMatch(key -> key.matches("weir:2:\\{" + NAMESPACE + ":[A-Za-z0-9.~%_@+-]+}:[A-Za-z0-9.-]+"))
                .allMatch(key -> key.length() <= MAX_KEY_LENGTH)
                .noneMatch(key -> redis.number("PTTL", key) == NO_TTL);
    }

    /** Returns the keys of limits, without that of the instances. */
    private static Set<String> keys() {
        Set<String> keys = new HashSet<>(redis.keys("weir:2:{" + NAMESPACE + ":*"));
        keys.remove("weir:2:{" + NAMESPACE + ":instances}:+present");
        return keys;
    }

    static Stream<String> hostile() {
        String longest = "v".repeat(30_000);
        return Stream.of(
                "{",
                "}",
                "{}",
                "a}:b{c",
                "}{",
                ":",
                "a:b",
                "a+b",
                "a b",
                "a|b",
                "a%2Bb",
                "a%20b",
                "%",
                "%00",
                "%7B",
                "%0D%0A",
                "*",
                "?",
                "[a-z]",
                "\\",
                "\"",
                "'",
                "null",
                "anonymous",
                "anon",
                "all",
                "~",
                "~AAAAAAAAAAAAAAAAAAAAAA",
                ".",
                "..",
                "../../x",
                "weir:2:{default:all}:by-api-key",
                "$(id)",
                "${jndi:ldap://localhost/x}",
                "a,b",
                "A,B",
                "a",
                "A",
                "a\tb",
                "a  b",
                "\u00e9",
                "e\u00cc\u0081",
                "v".repeat(64),
                "v".repeat(65),
                longest,
                longest + "w");
    }

    @Test
    void differentHeaderValuesHaveSeparateLimits() {
        String mark = UUID.randomUUID().toString();
        List<String> values = hostile()
                .map(value -> value.length() > 1_000 ? value + mark : mark + value)
                .toList();

        assertThat(values).allSatisfy(value -> assertThat(raw("api-key", value)).isEqualTo(200));
        assertThat(values).allSatisfy(value -> assertThat(raw("api-key", value)).isEqualTo(429));
        assertThat(values)
                .allSatisfy(value -> assertThat(raw("ip-and-api-key", value)).isEqualTo(200));
        assertThat(values)
                .allSatisfy(value -> assertThat(raw("ip-and-api-key", value)).isEqualTo(429));
    }

    @Test
    void differentArgumentsHaveSeparateLimits() {
        String mark = UUID.randomUUID().toString();
        List<String> values = Stream.concat(hostile(), Stream.of("\r\n", "\u0000", "\ud83c\udf0a", "\u00c9", "\u0301"))
                .map(value -> value.length() > 1_000 ? value.substring(0, 6_000) + mark + value.length() : mark + value)
                .toList();

        assertThat(values).allSatisfy(value -> assertThat(argument(value)).isEqualTo(200));
        assertThat(values).allSatisfy(value -> assertThat(argument(value)).isEqualTo(429));
    }

    @Test
    void keyOfAMegabyteIsHashed() {
        String megabyte = UUID.randomUUID() + "m".repeat(1 << 20);
        assertThat(body(megabyte).statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(body(megabyte), "by-argument");
        assertThat(body(megabyte + "m").statusCode()).isEqualTo(200);
    }

    @Test
    void oversizedHeaderIsAClientError() {
        assertThat(Http.raw(base(), request("api-key", "X-API-Key: " + "m".repeat(1 << 20) + "\r\n")))
                .matches("|HTTP/1\\.1 4\\d\\d.*");
        assertThat(get("api/class/exempt").statusCode()).isEqualTo(200);
    }

    @Test
    void requestsWithoutAValueShareOneLimit() {
        redis.drop("weir:2:{" + NAMESPACE + ":anon}:by-api-key*");
        assertThat(Http.get(uri("api/key/api-key")).statusCode()).isEqualTo(200);
        assertThat(status(Http.raw(base(), request("api-key", "X-API-Key:\r\n"))))
                .isEqualTo(429);
        assertThat(status(Http.raw(base(), request("api-key", "X-API-Key:   \r\n"))))
                .isEqualTo(429);
        assertThat(redis.keys("weir:2:{" + NAMESPACE + ":anon}:by-api-key*")).hasSize(1);
    }

    @Test
    void secondHeaderLineDoesNotChangeTheKey() {
        String mark = UUID.randomUUID().toString();
        String twice = request("api-key", "X-API-Key: " + mark + "\r\nX-API-Key: b\r\n");
        assertThat(raw("api-key", mark)).isEqualTo(200);
        assertThat(status(Http.raw(base(), twice))).isEqualTo(429);
        assertThat(raw("api-key", "b" + mark)).isEqualTo(200);
    }

    /** Folded lines, single line ends and control characters: the server may reject them, but nothing else may happen. */
    @ParameterizedTest
    @ValueSource(
            strings = {"a\r\n b", "a\r\n\tb", "a\nX-Client: b", "a\rb", "a\u0000b", "a\u0001b", "a\u007fb", "a\r\n\r\nb"
            })
    void lineEndsAndControlCharactersAreHandled(String value) {
        Set<String> before = keys();
        String line = Http.raw(base(), request("api-key", "X-API-Key: " + UUID.randomUUID() + value + "\r\n"));

        assertThat(line).matches("|HTTP/1\\.1 (200|4\\d\\d).*");
        assertThat(keys().size() - before.size()).isBetween(0, 1);
    }

    @Test
    void userNameIsEncoded() {
        String name = "{x}*%7B";
        HttpResponse<String> response =
                Http.get(uri("api/key/user"), "Authorization", Http.basic(name, "odd-password"));
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(redis.keys("weir:2:{" + NAMESPACE + ":p.*"))
                .contains("weir:2:{" + NAMESPACE + ":p.%7Bx%7D%2A%257B}:by-user");
    }

    /** Returns the status of a request with a header value, of which each character is sent as a byte. */
    private int raw(String resource, String value) {
        return status(Http.raw(base(), request(resource, "X-API-Key: " + value + "\r\n")));
    }

    private static String request(String resource, String lines) {
        return "GET /api/key/" + resource + " HTTP/1.1\r\nHost: localhost\r\n" + lines + "Connection: close\r\n\r\n";
    }

    private static int status(String line) {
        return line.isEmpty() ? 0 : Integer.parseInt(line.substring("HTTP/1.1 ".length(), "HTTP/1.1 ".length() + 3));
    }

    private int argument(String value) {
        return Http.get(uri("api/key/argument?user=" + URLEncoder.encode(value, UTF_8)))
                .statusCode();
    }

    private HttpResponse<String> body(String text) {
        return Http.post(uri("api/key/argument"), "text/plain", text);
    }
}
