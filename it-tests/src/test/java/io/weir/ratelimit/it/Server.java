// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A process of an application server with one application, independent of Arquillian. It has a directory under {@code target/servers} and
 * free ports of the loopback interface. The process ends with this JVM at the latest.
 *
 * <pre>{@code
 * try (Server a = LibertyServer.named("a").systemProperty("ratelimit.redis.address", redis).start();
 *         Server b = WildFlyServer.named("b").systemProperty("ratelimit.redis.address", redis).start()) {
 *     a.baseUri().resolve("api/hello");
 * }
 * String log = PayaraServer.named("bad").environment("RATELIMIT_ENABLED", "maybe").startExpectingFailure();
 * }</pre>
 */
final class Server implements AutoCloseable {
    /** The exit value of a JVM that ended because of SIGTERM. */
    private static final int TERMINATED = 143;

    private static final Set<Server> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(Server::kill)));
    }

    private final Process process;
    private final String name;
    private final int port;
    private DirectoryAction afterStop = directory -> {};

    private Server(Process process, String name, int port) {
        this.process = process;
        this.name = name;
        this.port = port;
    }

    /** Starts a command and writes its output to the directory of the server. */
    static Server run(ProcessBuilder command, String name, int port) throws IOException {
        Process process = command.directory(directory(name).toFile())
                .redirectErrorStream(true)
                .redirectOutput(console(name).toFile())
                .start();
        process.getOutputStream().close();
        Server server = new Server(process, name, port);
        RUNNING.add(server);
        return server;
    }

    /** Returns the directory of a server, which remains after its end. */
    static Path directory(String name) {
        return Path.of(required("weir.servers")).resolve(name);
    }

    /** Returns the directory of a server after deleting its content. */
    static Path emptyDirectory(String name) throws IOException {
        Path directory = directory(name);
        if (Files.exists(directory)) {
            try (Stream<Path> paths = Files.walk(directory)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
        return Files.createDirectories(directory);
    }

    /** Returns a system property that the build sets. */
    static String required(String property) {
        String value = System.getProperty(property);
        if (value == null) {
            throw new IllegalStateException("System property " + property + " is not set: run by mvn verify");
        }
        return value;
    }

    /** Sets what {@link #stop()} does with the directory after the process has terminated. */
    Server afterStop(DirectoryAction action) {
        afterStop = action;
        return this;
    }

    /** Returns the root of the application, with a slash at the end. */
    URI baseUri() {
        return URI.create("http://localhost:" + port + "/");
    }

    /** Returns the output of the process, which includes the messages of the server from INFO on. */
    String log() {
        try {
            return new String(Files.readAllBytes(console(name)), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the log and the file messages.log of Open Liberty, which has messages that are not in the output. */
    String messages() {
        Path file = directory().resolve("servers").resolve(name).resolve("logs/messages.log");
        try {
            return log() + (Files.exists(file) ? Files.readString(file) : "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the end of the log. */
    String tail() {
        List<String> lines = log().lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
    }

    /** Returns the directory for all files of the server. */
    Path directory() {
        return directory(name);
    }

    /** Returns the JVM of the server, for signals such as SIGSTOP. */
    ProcessHandle handle() {
        return process.toHandle();
    }

    /** Terminates the server, and kills it after 30 seconds. */
    void stop() {
        try {
            process.destroy();
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                kill();
            } else if (process.exitValue() == TERMINATED) {
                afterStop.accept(directory());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            kill();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            RUNNING.remove(this);
        }
    }

    /** Kills the process and its descendants. */
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

    private static Path console(String name) {
        return directory(name).resolve("console.log");
    }

    /** An action on the directory of a server. */
    @FunctionalInterface
    interface DirectoryAction {
        void accept(Path directory) throws IOException;
    }
}
