// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An Open Liberty process of its own, beside the one that Arquillian runs: the same runtime, the example's {@code server.xml}
 * and WAR, a server directory under {@code target/servers} and free ports on the loopback address.
 *
 * <pre>{@code
 * try (LibertyServer a = LibertyServer.named("a").systemProperty("ratelimit.redis.address", redis).start()) {
 *     a.baseUri().resolve("api/hello");
 * }
 * String log = LibertyServer.named("bad").environment("RATELIMIT_ENABLED", "maybe").startExpectingFailure();
 * }</pre>
 */
final class LibertyServer implements AutoCloseable {
    private static final String WAR = "weir-example-openliberty.war";

    /** The application could not be started, or its port was taken. */
    private static final Pattern FAILED =
            Pattern.compile("CWWKZ000[24]E|CWWKZ001[234]|CWWKZ0106E|CWWKG0014E|CWWKO0221E");

    private static final Pattern STARTED = Pattern.compile("CWWKZ000[13]I"); // started, updated

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

    private static final Set<LibertyServer> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(LibertyServer::kill)));
    }

    private final Process process;
    private final String name;
    private final Path console;
    private final int port;

    private LibertyServer(Process process, String name, Path console, int port) {
        this.process = process;
        this.name = name;
        this.console = console;
        this.port = port;
        RUNNING.add(this);
    }

    /** A server directory of that name; what an earlier process left there is deleted at the start. */
    static Builder named(String name) {
        return new Builder(name);
    }

    /** The root of the application, with a slash at the end. */
    URI baseUri() {
        return URI.create("http://localhost:" + port + "/");
    }

    /** All that the process has written to its console, and so the server's messages from INFO upwards. */
    String log() {
        try {
            return Files.exists(console) ? new String(Files.readAllBytes(console), StandardCharsets.UTF_8) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Everything that the server writes is below it. */
    Path directory() {
        return directory(name);
    }

    /** Where a server of that name lives, also after its end. */
    static Path directory(String name) {
        return Path.of(Builder.required("weir.servers")).resolve(name);
    }

    /** For signals, such as SIGSTOP. */
    ProcessHandle handle() {
        return process.toHandle();
    }

    /** Ends the server as an operator would, and by force when that takes longer than 30 seconds. */
    void stop() {
        try {
            process.destroy();
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                kill();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            kill();
        } finally {
            RUNNING.remove(this);
        }
    }

    /** Ends the process, and what it started, at once: a crash. */
    void kill() {
        List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
        all.add(process.toHandle());
        all.forEach(ProcessHandle::destroyForcibly);
        all.forEach(handle -> handle.onExit().orTimeout(10, TimeUnit.SECONDS).join());
        RUNNING.remove(this);
    }

    @Override
    public void close() {
        stop();
    }

    private boolean logged(Pattern pattern) {
        return pattern.matcher(log()).find();
    }

    private boolean answers(URI uri) throws InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(5)).build();
        try {
            return CLIENT.send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false; // not listening yet
        }
    }

    private String tail() {
        List<String> lines = log().lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
    }

    /** What one process gets. */
    static final class Builder {
        private final String name;
        private final Map<String, String> environment = new LinkedHashMap<>();
        private final Map<String, String> bootstrapProperties = new LinkedHashMap<>();
        private final List<String> jvmOptions =
                new ArrayList<>(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        private final Map<String, String> overrides = new LinkedHashMap<>();
        private Path war = Path.of(required("weir.example.war"));
        private int port;
        private String readyPath = "api/health";
        private Duration patience = Duration.ofMinutes(2);

        private Builder(String name) {
            this.name = name;
        }

        /** Instead of the example's. */
        Builder war(Path value) {
            war = value;
            return this;
        }

        /** Instead of a free one, for a server that comes back where it was. */
        Builder httpPort(int value) {
            port = value;
            return this;
        }

        /** The path below {@link #baseUri()} that answers 200 once the application is ready. */
        Builder readyPath(String value) {
            readyPath = value;
            return this;
        }

        /** How long a start, or a failure, may take. */
        Builder patience(Duration value) {
            patience = value;
            return this;
        }

        /** A {@code -D} of the server's JVM: MicroProfile Config ranks it above the environment. */
        Builder systemProperty(String key, String value) {
            jvmOptions.add("-D" + key + "=" + value);
            return this;
        }

        Builder jvmOption(String value) {
            jvmOptions.add(value);
            return this;
        }

        Builder environment(String key, String value) {
            environment.put(key, value);
            return this;
        }

        Builder bootstrapProperty(String key, String value) {
            bootstrapProperties.put(key, value);
            return this;
        }

        /** A {@code <server>} document that is merged over the example's. */
        Builder serverXml(String xml) {
            overrides.put("override-" + overrides.size() + ".xml", xml);
            return this;
        }

        /**
         * Starts the process and waits until the application answers.
         *
         * @throws IllegalStateException with the end of the log, if it does not
         */
        LibertyServer start() {
            LibertyServer server = launch();
            boolean ready = false;
            try {
                URI uri = server.baseUri().resolve(readyPath);
                long end = System.nanoTime() + patience.toNanos();
                while (System.nanoTime() < end && server.process.isAlive() && !server.logged(FAILED)) {
                    if (server.answers(uri)) {
                        ready = true;
                        return server;
                    }
                    TimeUnit.MILLISECONDS.sleep(200);
                }
                throw new IllegalStateException("Server " + name + " is not ready:\n" + server.tail());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while server " + name + " started", e);
            } finally {
                if (!ready) {
                    server.kill();
                }
            }
        }

        /**
         * Starts the process, waits until the server reports that the application cannot be started, and ends it.
         *
         * @return the log
         * @throws IllegalStateException with the end of the log, if the application starts all the same
         */
        String startExpectingFailure() {
            LibertyServer server = launch();
            try {
                long end = System.nanoTime() + patience.toNanos();
                while (System.nanoTime() < end) {
                    if (server.logged(FAILED) || !server.process.isAlive()) {
                        server.stop(); // the rest of the stack trace is written by then
                        return server.log();
                    }
                    if (server.logged(STARTED)) {
                        throw new IllegalStateException(
                                "Server " + name + " started the application:\n" + server.tail());
                    }
                    TimeUnit.MILLISECONDS.sleep(200);
                }
                throw new IllegalStateException("Server " + name + " reported no failure:\n" + server.tail());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while server " + name + " started", e);
            } finally {
                server.kill();
            }
        }

        private LibertyServer launch() {
            Path userDir = directory(name);
            Path serverDir = userDir.resolve("servers").resolve(name);
            int httpPort = port == 0 ? freePort() : port;
            bootstrapProperties.put("http.port", Integer.toString(httpPort));
            bootstrapProperties.putIfAbsent("https.port", "-1");
            try {
                delete(userDir);
                Files.createDirectories(serverDir.resolve("apps"));
                Files.copy(Path.of(required("weir.example.server.xml")), serverDir.resolve("server.xml"));
                Files.copy(war, serverDir.resolve("apps").resolve(WAR), StandardCopyOption.REPLACE_EXISTING);
                Files.write(
                        serverDir.resolve("bootstrap.properties"),
                        bootstrapProperties.entrySet().stream()
                                .map(entry -> entry.getKey() + "=" + entry.getValue())
                                .toList());
                Files.write(serverDir.resolve("jvm.options"), jvmOptions);
                Path overrideDir = Files.createDirectories(serverDir.resolve("configDropins/overrides"));
                for (Map.Entry<String, String> override : overrides.entrySet()) {
                    Files.writeString(overrideDir.resolve(override.getKey()), override.getValue());
                }
                Path console = userDir.resolve("console.log");
                // On Linux and macOS the script ends in exec: the process is the server's JVM itself.
                String script = File.separatorChar == '\\' ? "server.bat" : "server";
                ProcessBuilder builder = new ProcessBuilder(
                                Path.of(required("weir.wlp.home"), "bin", script)
                                        .toString(),
                                "run",
                                name)
                        .directory(userDir.toFile())
                        .redirectErrorStream(true)
                        .redirectInput(ProcessBuilder.Redirect.from(nullDevice()))
                        .redirectOutput(console.toFile());
                builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
                builder.environment().put("WLP_USER_DIR", userDir.toString());
                builder.environment().put("WLP_LOGGING_CONSOLE_LOGLEVEL", "INFO");
                builder.environment().putAll(environment);
                return new LibertyServer(builder.start(), name, console, httpPort);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static File nullDevice() {
            return new File(File.separatorChar == '\\' ? "NUL" : "/dev/null");
        }

        private static int freePort() {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void delete(Path root) throws IOException {
            if (Files.exists(root)) {
                try (Stream<Path> paths = Files.walk(root)) {
                    for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                        Files.delete(path);
                    }
                }
            }
        }

        private static String required(String property) {
            String value = System.getProperty(property);
            if (value == null) {
                throw new IllegalStateException("System property " + property + " is not set: run by mvn verify");
            }
            return value;
        }
    }
}
