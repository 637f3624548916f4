// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis of one's own that can be stopped, killed and started again, on a free port of the loopback, without persistence:
 * always a process, never a container, because tests send it signals and count on its port. The binary is that of
 * {@code -Dweir.test.redis.binary}, by default the one that the test dependency carries. Ends with the JVM at the latest.
 */
public final class RedisProcess implements AutoCloseable {
    private static final Duration START_WITHIN = Duration.ofSeconds(20);

    private final int port;
    private final List<String> arguments;
    private Process process;

    /**
     * A process that is not started yet.
     *
     * @param port its port
     * @param arguments all of its command line
     */
    RedisProcess(int port, List<String> arguments) {
        this.port = port;
        this.arguments = List.copyOf(arguments);
        Runtime.getRuntime().addShutdownHook(new Thread(this::kill, "end-redis-" + port));
    }

    /** The arguments that every server has, and some more. */
    static List<String> server(int port, String... settings) {
        List<String> arguments =
                new ArrayList<>(List.of("--port", String.valueOf(port), "--bind", "127.0.0.1", "--save", ""));
        arguments.addAll(List.of(settings));
        return arguments;
    }

    /**
     * Starts a Redis.
     *
     * @param settings more arguments for its command line
     * @return the running process
     */
    public static RedisProcess started(String... settings) {
        RedisProcess redis = absent(settings);
        redis.start();
        return redis;
    }

    /**
     * A Redis that is not started yet, though its port is known.
     *
     * @param settings more arguments for its command line
     * @return the process to be
     */
    public static RedisProcess absent(String... settings) {
        int port = freePort();
        return new RedisProcess(port, server(port, settings));
    }

    /** A port of the loopback that nobody uses now. */
    static int freePort() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts the process, on the same port each time, and waits until it takes connections. */
    public void start() {
        try {
            List<String> command = new ArrayList<>(List.of(Binary.FILE.getPath()));
            command.addAll(arguments);
            process = new ProcessBuilder(command)
                    .directory(Binary.FOLDER)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Await.until("Redis on port " + port, START_WITHIN, () -> {
            if (!process.isAlive()) {
                throw new AssertionError("Redis ended with status " + process.exitValue());
            }
            try (RedisConnection connection = RedisConnection.to("redis://127.0.0.1:" + port)) {
                return !connection.text("PING").isEmpty();
            } catch (UncheckedIOException e) {
                return false;
            } catch (IllegalStateException e) {
                return true; // it wants a password
            }
        });
    }

    /** Stops the process as it is: its connections stay and nothing answers. */
    public void pause() {
        signal("-STOP");
    }

    /** Lets a stopped process go on. */
    public void resume() {
        signal("-CONT");
    }

    private void signal(String signal) {
        try {
            Process kill = new ProcessBuilder("kill", signal, String.valueOf(process.pid()))
                    .inheritIO()
                    .start();
            if (kill.waitFor() != 0) {
                throw new IllegalStateException("kill " + signal + " failed");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Ends the process at once and waits for its end. */
    public void kill() {
        if (process == null) {
            return;
        }
        process.destroyForcibly();
        awaitEnd();
    }

    /** Waits for the end of a process that was told to end. */
    void awaitEnd() {
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The port, the same each time. */
    public int port() {
        return port;
    }

    /** The address as configuration writes it. */
    public String address() {
        return "redis://127.0.0.1:" + port;
    }

    /** The address with a password. */
    public String address(String password) {
        return "redis://:" + password + "@127.0.0.1:" + port;
    }

    /** A connection to look inside. */
    public RedisConnection connect() {
        return RedisConnection.to(address());
    }

    @Override
    public void close() {
        kill();
    }

    /** The binary, found once, and the folder it runs in. */
    private static final class Binary {
        static final File FOLDER = folder();
        static final File FILE = file();

        private static File folder() {
            try {
                File folder = Files.createTempDirectory("weir-redis").toFile();
                folder.deleteOnExit();
                return folder;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static File file() {
            String named = System.getProperty("weir.test.redis.binary");
            if (named != null) {
                return new File(named);
            }
            try {
                File binary = ExecutableProvider.newJarResourceProvider(FOLDER).get();
                binary.deleteOnExit();
                return binary;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
