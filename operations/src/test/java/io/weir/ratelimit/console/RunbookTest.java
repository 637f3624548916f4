// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.weir.ratelimit.fixtures.RequiredTools;
import io.weir.ratelimit.operations.Access;
import jakarta.json.Json;
import jakarta.json.JsonArray;
import jakarta.json.JsonObject;
import jakarta.json.JsonValue;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The commands of the runbook run with curl and jq against the API of the console, and show values. Skipped without these programs. */
class RunbookTest {
    private static final Pattern SECTIONS = Pattern.compile("(?m)^### Change limits at run time$");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]+) \\| `((?:curl|post) [^`]+)` \\|$");
    private static final Pattern FILTER = Pattern.compile("\\| jq (?:-r )?'([^']+)'");

    /** A member after a dot, or in braces without a value of its own. */
    private static final Pattern MEMBER = Pattern.compile("(?:\\.|\\{|, )([a-zA-Z]+)(?![a-zA-Z:(])");

    private static final Pattern SNIPPET = Pattern.compile("(?ms)^```shell\\n(.*?)^```$");

    private final SimulatedFleet fleet = new SimulatedFleet(3);
    private PageServer server;
    private FakeRuntimeChanges changes;
    private JsonObject described;

    @BeforeEach
    void start() throws Exception {
        boolean available = output("command -v curl && command -v jq").contains("jq");
        assertThat(available || !RequiredTools.contains("jq")).as("curl and jq").isTrue();
        assumeThat(available).as("curl and jq").isTrue();
        server = PageServer.withLogin();
        changes = new FakeRuntimeChanges(server.operations);
        server.operations.access = new Access(true, Optional.of("operator"), false);
        fleet.store.now = Instant.now();
        server.operations.fleetStore = Optional.of(fleet.store);
        String document = new PageClient(server.port())
                .get("/ratelimit/api/v1/openapi.json", PageClient.basic("ann"))
                .body();
        described = Json.createReader(new StringReader(document)).readObject();
        OpenApiTest.fill(server, fleet);
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    @TestFactory
    Stream<DynamicTest> commandsOfTheConsoleShowValues() throws IOException {
        String page = SECTIONS.split(runbook())[0];
        return commands(page).map(command -> test(command, snippet(page)));
    }

    @TestFactory
    Stream<DynamicTest> commandsOfRuntimeChangesShowValues() throws IOException {
        server.operations.changes = Optional.of(changes);
        String[] parts = SECTIONS.split(runbook());
        return commands(parts[1]).map(command -> test(command, snippet(parts[0]) + snippet(parts[1])));
    }

    private static String runbook() throws IOException {
        return Files.readString(Path.of("../docs/operations/runbook.md"));
    }

    private static String snippet(String section) {
        return SNIPPET.matcher(section).results().findFirst().orElseThrow().group(1);
    }

    private static Stream<List<String>> commands(String section) {
        List<List<String>> rows = ROW.matcher(section)
                .results()
                .map(row -> List.of(row.group(1), row.group(2).replace("\\|", "|")))
                .toList();
        assertThat(rows).hasSizeGreaterThan(5);
        return rows.stream();
    }

    private DynamicTest test(List<String> command, String definitions) {
        return DynamicTest.dynamicTest(command.get(0), () -> {
            assertThat(output(script(definitions, command.get(1))))
                    .as(command.get(1))
                    .isNotBlank()
                    .doesNotContain("\nexit ");
            assertThat(members(command.get(1))).isSubsetOf(names(described));
        });
    }

    /** Returns the members that a filter of jq reads; jq shows a missing one as nothing. */
    private static Set<String> members(String command) {
        return FILTER.matcher(command)
                .results()
                .flatMap(filter -> MEMBER.matcher(filter.group(1)).results())
                .map(member -> member.group(1))
                .collect(Collectors.toSet());
    }

    /** Returns the names in the description of the API, at any depth. */
    private static Set<String> names(JsonValue value) {
        if (value instanceof JsonArray array) {
            return array.stream().flatMap(element -> names(element).stream()).collect(Collectors.toSet());
        }
        if (value instanceof JsonObject object) {
            return object.entrySet().stream()
                    .flatMap(entry -> Stream.concat(Stream.of(entry.getKey()), names(entry.getValue()).stream()))
                    .collect(Collectors.toSet());
        }
        return Set.of();
    }

    /** The commands of the page, with the server and the password of the test. An error of HTTP ends the script. */
    private String script(String definitions, String command) {
        String origin = server.at("").toString().replace("/app", "");
        String lastChange = Integer.toString(changes.log(50).size());
        return String.join(
                        "\n",
                        "set -e -o pipefail",
                        "curl() { command curl --fail-with-body \"$@\"; }",
                        definitions,
                        command)
                .replace("https://api.example.org", origin)
                .replace("$origin/ratelimit", "$origin/app/ratelimit")
                .replace("-su ann ", "-su ann:ann ")
                .replace("\"number\":\"17\"", "\"number\":\"" + lastChange + "\"");
    }

    /** Runs a script and returns its output, with the exit code if it fails. */
    private static String output(String script) throws IOException, InterruptedException {
        Process bash = new ProcessBuilder("bash", "-c", script)
                .redirectErrorStream(true)
                .start();
        String output = new String(bash.getInputStream().readAllBytes(), UTF_8);
        assertThat(bash.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return bash.exitValue() == 0 ? output : output + "\nexit " + bash.exitValue();
    }
}
