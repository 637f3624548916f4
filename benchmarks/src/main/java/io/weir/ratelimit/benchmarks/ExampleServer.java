// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.TestPorts;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An example, as a process of its own on a free port. */
final class ExampleServer implements AutoCloseable {
    private static final String WAR = "weir-example-openliberty.war";
    private static final Path EXAMPLE = Path.of("examples/openliberty");
    private static final Path USERS = Path.of("benchmarks/target/servers").toAbsolutePath();
    private static final List<Path> HOMES = List.of(
            EXAMPLE.resolve("target/liberty/wlp").toAbsolutePath(),
            Path.of("it-tests/target/liberty/wlp").toAbsolutePath());
    private static final Path QUARKUS =
            Path.of("examples/quarkus/target/quarkus-app/quarkus-run.jar").toAbsolutePath();
    private static final Duration START_WITHIN = Duration.ofMinutes(5);

    private final Process process;
    private final String url;

    private ExampleServer(Process process, String url) {
        this.process = process;
        this.url = url;
    }

    /** Returns what is missing to start the example; empty if nothing is. */
    static Optional<String> missing() {
        return home().isPresent() && Files.exists(EXAMPLE.resolve("target").resolve(WAR))
                ? Optional.empty()
                : Optional.of("The example or Open Liberty is not built: run \"mvn -B -ntp verify\" first.");
    }

    private static Optional<Path> home() {
        return HOMES.stream()
                .filter(home -> Files.exists(home.resolve("bin/server")))
                .findFirst();
    }

    /** Returns what is missing to start the example on Quarkus; empty if nothing is. */
    static Optional<String> missingOnQuarkus() {
        return Files.exists(QUARKUS)
                ? Optional.empty()
                : Optional.of("The example on Quarkus is not built: run"
                        + " \"mvn -B -ntp package -Dmaven.test.skip -Pquarkus -pl examples/quarkus\" first.");
    }

    /** Starts the example on Quarkus, and waits until it answers a path with 200. */
    static ExampleServer onQuarkus(String name, String path, Map<String, String> environment) throws IOException {
        int port = TestPorts.next();
        Path folder = Files.createDirectories(USERS.resolve("quarkus").resolve(name));
        ProcessBuilder command = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-jar", QUARKUS.toString());
        command.environment().put("QUARKUS_HTTP_PORT", Integer.toString(port));
        return started(command, folder.resolve("console.log"), port, path, environment);
    }

    /** Starts the example on Open Liberty, and waits until it answers a path with 200. */
    static ExampleServer started(String name, String path, Map<String, String> environment) throws IOException {
        int port = TestPorts.next();
        Path server = USERS.resolve("servers").resolve(name);
        Files.createDirectories(server.resolve("apps"));
        Path war = server.resolve("apps").resolve(WAR);
        Files.deleteIfExists(war);
        Files.copy(EXAMPLE.resolve("target").resolve(WAR), war);
        Files.writeString(
                server.resolve("server.xml"), Files.readString(EXAMPLE.resolve("src/main/liberty/config/server.xml")));
        Files.write(server.resolve("bootstrap.properties"), List.of("http.port=" + port, "https.port=-1"));
        ProcessBuilder command =
                new ProcessBuilder(home().orElseThrow().resolve("bin/server").toString(), "run", name);
        command.environment().put("JAVA_HOME", System.getProperty("java.home"));
        command.environment().put("WLP_USER_DIR", USERS.toString());
        return started(command, server.resolve("console.log"), port, path, environment);
    }

    private static ExampleServer started(
            ProcessBuilder command, Path log, int port, String path, Map<String, String> environment)
            throws IOException {
        command.environment().putAll(environment);
        command.redirectErrorStream(true).redirectOutput(log.toFile());
        ExampleServer started = new ExampleServer(command.start(), "http://localhost:" + port);
        try {
            Await.until("the example answers", START_WITHIN, () -> started.answers(path));
            return started;
        } catch (AssertionError | IllegalStateException e) {
            started.close();
            throw e;
        }
    }

    private boolean answers(String path) {
        if (!process.isAlive()) {
            throw new IllegalStateException("the server has ended, see console.log in " + USERS);
        }
        @Nullable HttpURLConnection request = null;
        try {
            request = (HttpURLConnection) URI.create(url + path).toURL().openConnection();
            return request.getResponseCode() == HttpURLConnection.HTTP_OK;
        } catch (IOException e) {
            return false;
        } finally {
            if (request != null) {
                request.disconnect();
            }
        }
    }

    String url() {
        return url;
    }

    /** Returns the number of the process. The script of Open Liberty ends with exec, so it is that of the JVM. */
    long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        process.destroy();
        Await.until("the server has ended", START_WITHIN, () -> !process.isAlive());
    }
}
