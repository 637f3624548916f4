// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What one {@link Server} gets, and the wait until it is ready. A kind of server says how its directory is filled, by which command
 * it runs, and how its log tells of a failure.
 *
 * @param <B> the kind's own builder
 */
abstract class ServerBuilder<B extends ServerBuilder<B>> {
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

    private final String name;
    private final Pattern failed;
    private final Pattern started;
    private final Map<String, String> environment = new LinkedHashMap<>();
    private final List<String> jvmOptions =
            new ArrayList<>(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    private Path javaHome = Path.of(System.getProperty("java.home"));
    private Path war;
    private int port;
    private String readyPath = "api/health";
    private Duration patience = Duration.ofMinutes(2);

    /**
     * A builder.
     *
     * @param kind as in the name of the example's WAR
     * @param name the server's directory; what an earlier process left there is deleted at the start
     * @param failed what the log says when the application cannot be started, or a port was taken
     * @param started what the log says when the application was started; a log that says both has failed
     */
    ServerBuilder(String kind, String name, Pattern failed, Pattern started) {
        this.name = name;
        this.failed = failed;
        this.started = started;
        this.war = Path.of(Server.required("weir.example.war")).resolveSibling("weir-example-" + kind + ".war");
    }

    /**
     * Fills the server's directory.
     *
     * @return the command that becomes the server's JVM, so that a signal to it reaches the server
     */
    abstract ProcessBuilder command(Path directory, int httpPort) throws IOException;

    abstract B self();

    /** Instead of the example for this kind of server. */
    B war(Path value) {
        war = value;
        return self();
    }

    /** Instead of a free one, for a server that comes back where it was. */
    B httpPort(int value) {
        port = value;
        return self();
    }

    /** The path below {@link Server#baseUri()} that answers 200 once the application is ready. */
    B readyPath(String value) {
        readyPath = value;
        return self();
    }

    /** How long a start, or a failure, may take. */
    B patience(Duration value) {
        patience = value;
        return self();
    }

    /** The Java to run with, instead of that of the tests. */
    B javaHome(Path value) {
        javaHome = value;
        return self();
    }

    /** A {@code -D} of the server's JVM: MicroProfile Config ranks it above the environment. */
    B systemProperty(String key, String value) {
        return jvmOption("-D" + key + "=" + value);
    }

    B jvmOption(String value) {
        jvmOptions.add(value);
        return self();
    }

    B environment(String key, String value) {
        environment.put(key, value);
        return self();
    }

    Path war() {
        return war;
    }

    Path javaHome() {
        return javaHome;
    }

    List<String> jvmOptions() {
        return jvmOptions;
    }

    /** The Java to run with, and its options. */
    List<String> java() {
        return Stream.concat(Stream.of(javaHome.resolve("bin/java").toString()), jvmOptions.stream())
                .toList();
    }

    /**
     * Starts the process and waits until the application answers.
     *
     * @throws IllegalStateException with the end of the log, if it does not
     */
    Server start() {
        Server server = launch();
        boolean ready = false;
        try {
            URI uri = server.baseUri().resolve(readyPath);
            long end = System.nanoTime() + patience.toNanos();
            while (System.nanoTime() < end && server.handle().isAlive() && !logged(server, failed)) {
                if (answers(uri)) {
                    ready = true;
                    return server;
                }
                TimeUnit.MILLISECONDS.sleep(200);
            }
            throw new IllegalStateException("Server " + name
                    + (logged(server, failed) ? " has failed" : " is not ready") + ":\n" + server.tail());
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
        Server server = launch();
        try {
            long end = System.nanoTime() + patience.toNanos();
            while (System.nanoTime() < end) {
                // In this order: a failure that is logged between the two questions is seen in the next round.
                boolean running = logged(server, started);
                if (logged(server, failed) || !server.handle().isAlive()) {
                    server.stop(); // the rest of the stack trace is written by then
                    return server.log();
                }
                if (running) {
                    throw new IllegalStateException("Server " + name + " started the application:\n" + server.tail());
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

    private Server launch() {
        int httpPort = port == 0 ? freePort() : port;
        try {
            ProcessBuilder command = command(Server.emptyDirectory(name), httpPort);
            command.environment().putAll(environment);
            return Server.run(command, name, httpPort);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean logged(Server server, Pattern pattern) {
        return pattern.matcher(server.log()).find();
    }

    /** Patiently: where the path is limited, a request that is given up has been counted like the one after it. */
    private static boolean answers(URI uri) throws InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(30)).build();
        try {
            return CLIENT.send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false; // not listening yet
        }
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
