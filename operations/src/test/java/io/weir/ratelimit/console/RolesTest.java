// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.operations.Access;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The table of operations and roles in {@code console.md} has each route, and each answer is that of the servlet. */
class RolesTest {
    private static final Path PAGE = Path.of("../docs/operations/console.md");
    private static final Pattern ROW = Pattern.compile("\\| `([^`]+)`([^|]*)\\| `([A-Z]+)` \\|([0-9 |]+)\\|");

    private static final String CALLER = "\"policy\":\"hello\",\"alternative\":\"0\",\"values\":[\"203.0.113.7\"]";
    private static final String LIMIT = "\"kind\":\"policy\",\"policy\":\"hello\",\"limit\":\"3/10s\"";
    private static final Map<String, String> BODIES = Map.of(
            "callers/peek", "{" + CALLER + "}",
            "callers/reset", "{" + CALLER + "}",
            "callers/block", "{" + CALLER + ",\"reason\":\"test\",\"duration\":\"1h\"}",
            "callers/unblock", "{" + CALLER + ",\"reason\":\"test\"}",
            "changes", "{" + LIMIT + ",\"version\":\"<version>\",\"reason\":\"test\"}",
            "changes/undo", "{\"version\":\"<version>\",\"reason\":\"test\",\"number\":\"1\"}",
            "changes/preview", "{" + LIMIT + "}");

    /** The users of the columns, whose names are those of {@link PageServer#withLogin}. */
    private static final List<String> USERS = List.of("", "other", "operator", "ann");

    /**
     * A row of the table.
     *
     * @param path the path below the API, or below the console for a file
     * @param note for which keys the row applies
     * @param statuses the answers to the users, and then that to an operator if changes are not enabled
     */
    record Row(String path, String note, String method, List<Integer> statuses) {
        boolean isOfBlockedKey() {
            return note.contains("of a blocked key");
        }
    }

    static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (String line : Files.readAllLines(PAGE)) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                rows.add(new Row(
                        row.group(1),
                        row.group(2),
                        row.group(3),
                        Arrays.stream(row.group(4).split("\\|"))
                                .map(status -> Integer.valueOf(status.strip()))
                                .toList()));
            }
        }
        return rows;
    }

    @Test
    void theTableHasEachRouteAndNoOther() throws Exception {
        Api api = new Api(
                () -> {
                    throw new IllegalStateException("no request is made");
                },
                Clock.systemUTC(),
                new Audit(System::nanoTime));
        List<String> served = Stream.of(
                        api.reads().keySet().stream().map(name -> "GET " + name),
                        api.posts().keySet().stream().map(name -> "POST " + name),
                        Stream.of("GET openapi.json", "GET / and its files", "POST callers/reset of a blocked key"))
                .flatMap(routes -> routes)
                .sorted()
                .toList();
        assertThat(rows().stream()
                        .map(row -> row.method() + " " + row.path() + row.note().stripTrailing()))
                .as("rows of the table")
                .containsExactlyInAnyOrderElementsOf(served);
        assertThat(BODIES.keySet()).isEqualTo(new TreeSet<>(api.posts().keySet()));
        assertThat(rows()).allSatisfy(row -> assertThat(row.statuses()).hasSize(USERS.size() + 1));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void eachAnswerIsThatOfTheTable(Row row) throws Exception {
        List<Integer> answers = new ArrayList<>();
        for (String user : USERS) {
            answers.add(status(row, user, true));
        }
        answers.add(status(row, "operator", false));
        assertThat(answers).isEqualTo(row.statuses());
    }

    private static int status(Row row, String user, boolean withChanges) throws Exception {
        try (PageServer server = PageServer.withLogin()) {
            server.operations.access = new Access(true, Optional.of("operator"), false);
            server.operations.blockedMicros = row.isOfBlockedKey() ? 60_000_000 : 0;
            FakeRuntimeChanges changes = new FakeRuntimeChanges(server.operations);
            server.operations.changes = withChanges ? Optional.of(changes) : Optional.empty();
            if (row.path().equals("changes/undo")) {
                send(server, new Row("changes", "", "POST", List.of()), "ann", changes);
            }
            int callsBefore = server.operations.calls.size();
            int status = send(server, row, user, changes);
            if (status >= 400) {
                assertThat(server.operations.calls.subList(callsBefore, server.operations.calls.size()))
                        .as("effects of a rejected request")
                        .allMatch(call -> call.startsWith("peek"));
                assertThat(changes.log).hasSizeLessThanOrEqualTo(row.path().equals("changes/undo") ? 1 : 0);
            }
            return status;
        }
    }

    private static int send(PageServer server, Row row, String user, FakeRuntimeChanges changes) throws Exception {
        String path = "/ratelimit" + (row.path().startsWith("/") ? row.path() : Api.ROOT + row.path());
        List<String> fields = new ArrayList<>();
        if (!user.isEmpty()) {
            fields.add(PageClient.basic(user));
        }
        String body = "";
        if (row.method().equals("POST")) {
            fields.add("Sec-Fetch-Site: same-origin");
            fields.add("Content-Type: application/json");
            body = BODIES.get(row.path()).replace("<version>", changes.view().tag());
        }
        return new PageClient(server.port())
                .send(row.method(), path, body, fields.toArray(String[]::new))
                .status();
    }

    @Test
    @Tag("field")
    void aResetDoesNotEndABlockWithoutTheRoleForChanges() throws Exception {
        try (PageServer server = PageServer.withLogin()) {
            server.operations.access = new Access(true, Optional.of("operator"), false);
            server.operations.changes = Optional.of(new FakeRuntimeChanges(server.operations));
            server.operations.blockedMicros = 1;
            Row reset = new Row("callers/reset", "", "POST", List.of());
            assertThat(send(server, reset, "operator", new FakeRuntimeChanges(server.operations)))
                    .isEqualTo(409);
            assertThat(server.operations.calls).noneMatch(call -> call.startsWith("reset"));
            server.operations.blockedMicros = 0;
            assertThat(send(server, reset, "operator", new FakeRuntimeChanges(server.operations)))
                    .isEqualTo(200);
        }
    }

    /** Sends a login and returns the status. */
    private static int login(PageServer server, String user, String... more) throws Exception {
        List<String> fields = new ArrayList<>(List.of(PageClient.basic(user)));
        fields.addAll(List.of(more));
        return new PageClient(server.port())
                .get("/ratelimit/", fields.toArray(String[]::new))
                .status();
    }

    @Test
    @Tag("field")
    void theConsoleIsNoPlaceToGuessPasswords() throws Exception {
        try (PageServer server = PageServer.withLogin()) {
            server.operations.access = new Access(true, Optional.of("operator"), false);
            for (int page = 0; page < 100; page++) {
                assertThat(login(server, "operator"))
                        .as("a page of an operator")
                        .isEqualTo(200);
            }
            for (int guess = 0; guess < 6; guess++) {
                assertThat(login(server, "nobody")).isEqualTo(401);
            }
            assertThat(login(server, "nobody")).isEqualTo(429);
            PageClient.Response right = new PageClient(server.port()).get("/ratelimit/", PageClient.basic("operator"));
            assertThat(right.status()).isEqualTo(429);
            assertThat(right.field("Retry-After")).contains("10");
            assertThat(new PageClient(server.port()).get("/ratelimit/").status())
                    .as("a request without credentials is no guess")
                    .isEqualTo(401);
            for (int second = 1; second < 10; second++) {
                server.nanos.addAndGet(1_000_000_000L);
                assertThat(login(server, "nobody")).as("after %d s", second).isEqualTo(429);
            }
            server.nanos.addAndGet(1_000_000_000L);
            assertThat(login(server, "operator")).isEqualTo(200);
        }
    }

    /** A rule of a proxy for one spelling does not match the others. The role protects all of them. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/%72atelimit/", "/rate%6cimit/api/v1/instances", "//ratelimit/", "/./ratelimit/", "/x/../ratelimit/",
                "/ratelimit;a/", "/ratelimit/;a", "/ratelimit//", "/ratelimit/%2e/", "/ratelimit/..;/ratelimit/"
            })
    @Tag("field")
    void theRoleProtectsEachSpellingOfThePath(String path) throws Exception {
        try (PageServer server = PageServer.withLogin()) {
            server.operations.access = new Access(true, Optional.of("operator"), false);
            PageClient client = new PageClient(server.port());
            assertThat(client.get(path).status()).isIn(400, 401, 404);
            assertThat(client.get(path, PageClient.basic("other")).status()).isIn(400, 403, 404);
        }
    }
}
