// SPDX-License-Identifier: Apache-2.0
package io.weir.example.fleet;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import redis.embedded.core.ExecutableProvider;

/**
 * Starts Redis and two instances of the example on Open Liberty, and calls them. All processes end with this one, also if it is killed, and
 * this one ends with each of them.
 */
public final class Fleet {
    private static final int FIRST_PORT = 9080;
    private static final Duration START_WITHIN = Duration.ofMinutes(3);
    private static final Duration END_WITHIN = Duration.ofSeconds(10);

    /**
     * Replaces the shell by a command, and kills the command at the end of the standard input of the shell. That input is a pipe, which the
     * operating system closes when this program ends, however it ends.
     */
    private static final String BOUND =
            "exec 3<&0; (cat <&3; kill -9 $$) >/dev/null 2>&1 & exec \"$@\" 3<&- </dev/null";

    private final Path build;
    private final Path output;
    private final List<Child> children = new CopyOnWriteArrayList<>();
    private volatile boolean ending;

    private Fleet(Path build) {
        this.build = build;
        this.output = build.resolve("fleet");
    }

    /**
     * Starts the fleet.
     *
     * @param arguments the port of the first instance, 9080 by default; the second instance has the next port
     */
    public static void main(String[] arguments) throws IOException, InterruptedException, URISyntaxException {
        Path jar = Path.of(
                Fleet.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Fleet fleet = new Fleet(jar.resolveSibling(""));
        Runtime.getRuntime().addShutdownHook(new Thread(fleet::end, "end-fleet"));
        try {
            fleet.run(arguments.length == 0 ? FIRST_PORT : Integer.parseInt(arguments[0]));
        } catch (Failure e) {
            if (!fleet.ending) {
                System.err.println(e.getMessage());
            }
            System.exit(1);
        }
    }

    private void run(int port) throws IOException, InterruptedException {
        long start = System.nanoTime();
        List<URI> instances = List.of(instance(port), instance(port + 1));
        for (URI instance : instances) {
            requireFree(instance.getPort());
        }
        Files.createDirectories(output);
        System.out.println("Redis and two instances start. Their output is in " + output);
        String redis = startRedis();
        for (URI instance : instances) {
            startInstance(instance.getPort(), redis);
        }
        for (URI instance : instances) {
            await("The instance " + instance, () -> isReady(instance));
        }
        Load.start(instances);
        System.out.printf(
                """

                The fleet is ready after %d s: two instances, one Redis and some load.

                  Console        %sratelimit/   user: operator, password: operator
                  Its copy       %sratelimit/   the same figures, from the other instance

                  Most rejected  the first key is the address 203.0.113.7, which calls /api/hello too often
                  Blocked        the key of 203.0.113.8, which guesses a password: a penalty blocks it
                  Near a limit   after a minute, the API key that uses nearly all its permits of the policy words
                  Policies       open the row hello and press Change: the new limit applies to both instances
                  One caller     look up an address, such as 203.0.113.7 under the policy hello

                Ctrl-C ends all processes.
                """, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start), instances.get(0), instances.get(1));
        CompletableFuture.anyOf(
                        children.stream().map(child -> child.process.onExit()).toArray(CompletableFuture[]::new))
                .join();
        requireRunning();
    }

    private static URI instance(int port) {
        return URI.create("http://localhost:" + port + "/");
    }

    private static void requireFree(int port) throws IOException {
        try {
            new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
        } catch (BindException e) {
            throw new Failure("Port " + port + " is in use. End the program that listens on it, or add an argument:"
                    + " the port of the first instance. The second instance has the next port.");
        }
    }

    /** Starts Redis on a free port, without persistence, and returns its address. */
    private String startRedis() throws IOException, InterruptedException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        String binary =
                ExecutableProvider.newJarResourceProvider(output.toFile()).get().getPath();
        start("redis", Map.of(), binary, "--port", "" + port, "--bind", "127.0.0.1", "--save", "");
        await("Redis", () -> answersPing(port));
        return "redis://127.0.0.1:" + port;
    }

    private void startInstance(int port, String redis) throws IOException {
        String name = "instance-" + port;
        Map<String, String> environment = Map.of(
                "JAVA_HOME",
                System.getProperty("java.home"),
                "JVM_ARGS",
                "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
                "WLP_USER_DIR",
                build.resolve("usr").toString(),
                "WLP_OUTPUT_DIR",
                output.resolve(name).toString(),
                "HTTP_PORT",
                "" + port,
                "RATELIMIT_REDIS_ADDRESS",
                redis,
                "RATELIMIT_TRUSTED_PROXIES",
                "127.0.0.1, ::1");
        start(name, environment, build.resolve("wlp/bin/server").toString(), "run", "fleet");
    }

    private void start(String name, Map<String, String> environment, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", BOUND, "sh");
        builder.command().addAll(List.of(command));
        builder.environment().putAll(environment);
        Path log = output.resolve(name + ".log");
        Process process = builder.directory(output.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        children.add(new Child(name, process, log));
        if (ending) {
            process.destroy();
        }
    }

    private void await(String what, Condition condition) throws IOException, InterruptedException {
        long end = System.nanoTime() + START_WITHIN.toNanos();
        while (!condition.holds()) {
            requireRunning();
            if (System.nanoTime() > end) {
                throw new Failure(what + " is not ready after " + START_WITHIN.toMinutes()
                        + " minutes. The output is in " + output);
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private void requireRunning() throws IOException {
        for (Child child : children) {
            if (!child.process.isAlive()) {
                throw new Failure(child.name + " has ended with status " + child.process.exitValue()
                        + ", so all other processes end. Its output is in " + child.log + ":\n" + child.lastLines());
            }
        }
    }

    private static boolean answersPing(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            return socket.getInputStream().read() == '+';
        } catch (IOException e) {
            return false; // not listening yet
        }
    }

    private static boolean isReady(URI instance) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(instance.resolve("health/ready"))
                .timeout(Duration.ofSeconds(5))
                .build();
        try {
            return Load.CLIENT.send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false; // not listening yet
        }
    }

    private void end() {
        ending = true;
        children.forEach(child -> child.process.destroy());
        CompletableFuture<?>[] ends =
                children.stream().map(child -> child.process.onExit()).toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(ends)
                .completeOnTimeout(null, END_WITHIN.toSeconds(), TimeUnit.SECONDS)
                .join();
        // The processes that are still alive are killed when this one ends.
    }

    /** A process that the fleet needs. */
    private record Child(String name, Process process, Path log) {
        String lastLines() throws IOException {
            List<String> lines = Files.readAllLines(log);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 10), lines.size()));
        }
    }

    @FunctionalInterface
    private interface Condition {
        boolean holds() throws InterruptedException;
    }

    /** A problem that its message explains to the user. */
    private static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Failure(String message) {
            super(message);
        }
    }
}
