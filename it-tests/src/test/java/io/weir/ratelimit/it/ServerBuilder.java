// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
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
 * A builder for a {@link Server} that starts it and waits until it is ready. A subclass per kind of server defines the content of its
 * directory, its command, and the log messages of a failure.
 *
 * @param <B> the type of the subclass
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
    private final List<String> awaited = new ArrayList<>();
    private Path war;
    private int port;
    private String readyPath = "api/health";
    private Duration maxWait = Duration.ofMinutes(2);

    /**
     * Creates a builder.
     *
     * @param kind the kind of server in the name of the WAR of the example
     * @param name the name of the directory, whose content is deleted at the start
     * @param failed the log message if the application cannot be started or a port is in use
     * @param started the log message if the application is started; a log with both messages is a failure
     */
    ServerBuilder(String kind, String name, Pattern failed, Pattern started) {
        this.name = name;
        this.failed = failed;
        this.started = started;
        this.war = Path.of(Server.required("weir.example.war")).resolveSibling("weir-example-" + kind + ".war");
    }

    /**
     * Fills the directory of the server.
     *
     * @return the command of the JVM of the server, so that signals reach the server
     */
    abstract ProcessBuilder command(Path directory, int httpPort) throws IOException;

    /** Uses the directory of a server that has ended after {@link Server#stop()}. */
    void stopped(Path directory) throws IOException {}

    abstract B self();

    /** Sets the WAR; the default is the example. */
    B war(Path value) {
        war = value;
        return self();
    }

    /** Sets the port; the default is a free port. */
    B httpPort(int value) {
        port = value;
        return self();
    }

    /** Sets the path below {@link Server#baseUri()} whose status is 200 as soon as the application is ready. */
    B readyPath(String value) {
        readyPath = value;
        return self();
    }

    /** Adds a message for which {@link #startDeployed()} also waits. */
    B awaits(String message) {
        awaited.add(message);
        return self();
    }

    /** Sets the timeout of a start or a failure. */
    B maxWait(Duration value) {
        maxWait = value;
        return self();
    }

    /** Sets the JDK; the default is that of the tests. */
    B javaHome(Path value) {
        javaHome = value;
        return self();
    }

    /** Adds a system property, which has a higher ordinal than the environment in MicroProfile Config. */
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

    /** Returns the Java command and its options. */
    List<String> java() {
        return Stream.concat(Stream.of(javaHome.resolve("bin/java").toString()), jvmOptions.stream())
                .toList();
    }

    /**
     * Starts the process and waits until the application is ready.
     *
     * @throws IllegalStateException with the end of the log, if the application is not ready in time
     */
    Server start() {
        return start(server -> isReady(server.baseUri().resolve(readyPath)));
    }

    /** Like {@link #start()}, but waits for the message of the server that the application is started, without a request. */
    Server startDeployed() {
        return start(server -> logged(server, started)
                && awaited.stream().allMatch(server.log()::contains)
                && isListening(server.baseUri()));
    }

    private Server start(ReadinessCheck check) {
        Server server = launch();
        boolean ready = false;
        try {
            long end = System.nanoTime() + maxWait.toNanos();
            while (System.nanoTime() < end && server.handle().isAlive() && !logged(server, failed)) {
                if (check.isReady(server)) {
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
     * @throws IllegalStateException with the end of the log, if the application starts
     */
    String startExpectingFailure() {
        Server server = launch();
        try {
            long end = System.nanoTime() + maxWait.toNanos();
            while (System.nanoTime() < end) {
                // This order matters: a failure that is logged between the two checks is found in the next iteration.
                boolean running = logged(server, started);
                if (logged(server, failed) || !server.handle().isAlive()) {
                    server.stop(); // writes the rest of the stack trace
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
            return Server.run(command, name, httpPort).afterStop(this::stopped);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean logged(Server server, Pattern pattern) {
        return pattern.matcher(server.log()).find();
    }

    /** Returns whether the application is ready. The timeout is long, because an abandoned request would count for a limit, too. */
    private static boolean isReady(URI uri) throws InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(30)).build();
        try {
            return CLIENT.send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false; // not listening yet
        }
    }

    private static boolean isListening(URI uri) {
        try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
            return socket.isConnected();
        } catch (IOException e) {
            return false; // not listening yet
        }
    }

    /** A check whether the application is ready for requests. */
    @FunctionalInterface
    private interface ReadinessCheck {
        boolean isReady(Server server) throws InterruptedException;
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
