// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.TestPorts;
import jakarta.json.JsonArray;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program of the page "See a fleet", as a reader starts it. */
@Tag("server")
@Tag("ci")
class FleetIT {
    private static final Path JAR =
            Path.of(Server.required("weir.fleet.jar")).toAbsolutePath().normalize();
    private static final Duration START = Duration.ofMinutes(3);
    private static final Duration END = Duration.ofSeconds(30);
    private static final String[] OPERATOR = ConsolePage.as("operator", "operator");

    @TempDir
    private Path temp;

    private Process fleet;

    @AfterEach
    void end() throws InterruptedException {
        if (fleet != null) {
            List<ProcessHandle> all =
                    Stream.concat(children(), Stream.of(fleet.toHandle())).toList();
            all.forEach(ProcessHandle::destroyForcibly);
            fleet.waitFor();
        }
    }

    private void start(int port) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin/java").toString();
        // A job in the background of a shell ignores SIGINT, and so do its children.
        fleet = new ProcessBuilder("env", "--default-signal=INT", java, "-jar", JAR.toString(), Integer.toString(port))
                .redirectErrorStream(true)
                .redirectOutput(output().toFile())
                .start();
    }

    private static int twoPorts() {
        int first = TestPorts.next();
        for (int next = TestPorts.next(); next != first + 1; next = TestPorts.next()) {
            first = next;
        }
        return first;
    }

    private Path output() {
        return temp.resolve("output");
    }

    private String printed() {
        return OperationsFiles.read(output());
    }

    /** Returns the processes of Redis, of both instances and of the shells that watch them. */
    private Stream<ProcessHandle> children() {
        return ProcessHandle.allProcesses()
                .filter(process -> process.pid() != fleet.pid())
                .filter(process -> process.info()
                        .commandLine()
                        .orElse("")
                        .contains(JAR.getParent().toString()));
    }

    private long instances() {
        return children()
                .filter(process -> process.info().command().orElse("").endsWith("/java"))
                .count();
    }

    private void signal(String signal, long process) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(process))
                        .start()
                        .waitFor())
                .isZero();
    }

    private void assertEnds(int status) throws InterruptedException {
        assertThat(fleet.waitFor(END.toSeconds(), TimeUnit.SECONDS)).as("ends").isTrue();
        assertThat(fleet.exitValue()).isEqualTo(status);
        Await.until("no process survives", END, () -> children().findAny().isEmpty());
    }

    @Test
    void theConsoleShowsTwoInstancesAndTheCallersOverTheirLimits() throws Exception {
        int port = twoPorts();
        start(port);
        Await.until("the fleet starts", START, () -> printed().contains("Ctrl-C") || !fleet.isAlive());
        assertThat(printed()).contains("http://localhost:" + port + "/ratelimit/", "http://localhost:" + (port + 1));
        for (int instance = port; instance <= port + 1; instance++) {
            ConsolePage page = new ConsolePage(URI.create("http://localhost:" + instance + "/"));
            Await.until("two instances report", START, () -> reporting(page) == 2);
            Await.until(
                    "an address is rejected",
                    START,
                    () -> !callers(page, "login-pair", "rejected").isEmpty());
            Await.until(
                    "a penalty",
                    START,
                    () -> !callers(page, "login-pair", "blocked").isEmpty());
            assertThat(api(page, "changes").getBoolean("mayChange")).isTrue();
        }
        signal("TERM", fleet.pid());
        assertEnds(128 + 15);
    }

    private static int reporting(ConsolePage page) {
        return api(page, "instances").getJsonArray("instances").size();
    }

    private static JsonArray callers(ConsolePage page, String policy, String list) {
        return api(page, "callers?policy=" + policy).getJsonArray(list);
    }

    private static JsonObject api(ConsolePage page, String path) {
        return ConsolePage.json(page.get("api/v1/" + path, OPERATOR));
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "KILL"})
    void noProcessSurvives(String signal) throws Exception {
        start(twoPorts());
        Await.until("both instances run", START, () -> instances() == 2);
        signal(signal, fleet.pid());
        assertEnds(signal.equals("INT") ? 128 + 2 : 128 + 9);
    }

    @Test
    void endsWithAChild() throws Exception {
        start(twoPorts());
        Await.until("both instances run", START, () -> instances() == 2);
        ProcessHandle redis = children()
                .filter(process -> process.info().command().orElse("").contains("redis-server"))
                .findFirst()
                .orElseThrow();
        signal("KILL", redis.pid());
        assertEnds(1);
        assertThat(printed()).contains("redis has ended with status 137");
    }

    @Test
    void reportsAPortThatIsInUse() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            start(other.getLocalPort());
            assertEnds(1);
            assertThat(printed()).contains("Port " + other.getLocalPort() + " is in use");
        }
    }

    @Test
    void thePageHasTheCommand() throws IOException {
        assertThat(OperationsFiles.read(Pom.ROOT.resolve("docs/how-to/see-a-fleet.md")))
                .contains("java -jar " + Pom.ROOT.toRealPath().relativize(JAR) + "\n");
    }
}
