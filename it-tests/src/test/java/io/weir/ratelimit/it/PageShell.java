// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs the commands that a page shows, for its project: {@code mvn liberty:run} as a server process, {@code curl} and a few others. An
 * unknown command fails. Each port of the page stands for a free port.
 */
final class PageShell implements AutoCloseable {
    private static final Pattern PORT = Pattern.compile("localhost:(\\d+)");
    private static final Pattern LOOP = Pattern.compile("for (\\w+) in ([^;]+); do (.*); done(.*)");
    private static final Pattern VARIABLE = Pattern.compile("([A-Z_]+)=(\\S+) ");
    private static final Pattern SERVER = Pattern.compile(".*-DserverName=(\\S+).*");
    private static final Path SERVERS = Path.of("target/liberty/wlp/usr/servers");
    private static final Duration MAX_WAIT = Duration.ofSeconds(60);

    private final String name;
    private final PageProject project;
    private final Map<String, Integer> ports = new HashMap<>();
    private final Map<String, CompletableFuture<Server>> servers = new TreeMap<>();
    private Path war;
    private RedisProcess redis;
    private Prometheus prometheus;

    PageShell(String name, PageProject project) {
        this.name = name;
        this.project = project;
    }

    /** Replaces the addresses of a page by those of the test. */
    String mapped(String text) {
        return PORT.matcher(text).replaceAll(address -> "127.0.0.1:" + port(address.group(1)));
    }

    /** Runs the lines of a snippet and returns their standard output. */
    String run(Snippet snippet) {
        return snippet.text().lines().map(this::line).collect(Collectors.joining());
    }

    private String line(String line) {
        Matcher loop = LOOP.matcher(line);
        if (!loop.matches()) {
            return piped(line);
        }
        String output = Stream.of(loop.group(2).split(" "))
                .map(value -> command(loop.group(3).replace("$" + loop.group(1), value)))
                .collect(Collectors.joining());
        return filtered(output, loop.group(4));
    }

    private String piped(String line) {
        int pipe = line.indexOf(" | ");
        return pipe < 0 ? command(line) : filtered(command(line.substring(0, pipe)), line.substring(pipe));
    }

    private static String filtered(String output, String pipe) {
        if (pipe.isEmpty()) {
            return output;
        }
        String filter = pipe.substring(" | ".length());
        if (filter.equals("tail -n 1")) {
            return output.lines().reduce("", (first, last) -> last) + "\n";
        }
        assertThat(filter).startsWith("grep ");
        return output.lines()
                .filter(line -> line.contains(filter.substring("grep ".length())))
                .map(line -> line + "\n")
                .collect(Collectors.joining());
    }

    private String command(String command) {
        String[] words = command.split(" ");
        try {
            switch (words[0]) {
                case "curl" -> {
                    servers.values().forEach(CompletableFuture::join);
                    return Curl.run(mapped(command));
                }
                case "mkdir" -> Files.createDirectories(file(words[2]));
                case "cp" -> Files.copy(file(words[1]), file(words[2]).resolve(words[1]));
                case "redis-server" -> startRedis(port(words[2]));
                case "redis-cli" -> {
                    return keys(words[3].replace("'", ""));
                }
                case "grep" -> {
                    return logged(words[2], words[3]);
                }
                case "prometheus" -> startPrometheus(mapped(command).split(" "));
                default -> startServer(command);
            }
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void startServer(String command) throws IOException {
        assertThat(command).contains("mvn ", " liberty:run");
        Map<String, String> variables = new LinkedHashMap<>();
        VARIABLE.matcher(command).results().forEach(variable -> variables.put(variable.group(1), variable.group(2)));
        Matcher named = SERVER.matcher(command);
        String server = named.matches() ? named.group(1) : "defaultServer";
        stop(server);
        // Servers that start at once read the same WAR: only the goal package may write it.
        if (command.contains("mvn package ")) {
            war = project.war();
        }
        String port = variables.remove("HTTP_PORT");
        String xml = Files.readString(project.folder().resolve("src/main/liberty/config/server.xml"));
        LibertyServer builder = LibertyServer.named(name + "-" + server)
                .configuration(xml.replace("shop.war", "weir-example-openliberty.war"))
                .war(war)
                .httpPort(port(port == null ? "9080" : port))
                .readyPath("ready.txt")
                // A cold JVM of a busy machine answers late.
                .systemProperty("ratelimit.redis.deadline", "5s");
        variables.forEach(builder::environment);
        servers.put(server, CompletableFuture.supplyAsync(builder::start));
    }

    private void startRedis(int port) {
        redis = new RedisProcess(port, RedisProcess.serverArguments(port));
        redis.start();
    }

    private String keys(String pattern) {
        try (RedisConnection connection = RedisConnection.to(redis.address())) {
            return String.join("\n", connection.keys(pattern));
        }
    }

    /** Waits until the log of each server contains a text, as a reader repeats {@code grep}. */
    private String logged(String text, String path) {
        servers.forEach((server, running) -> Await.until(
                text + " in the log of " + server,
                MAX_WAIT,
                Duration.ofMillis(200),
                () -> running.join().messages().contains(text)));
        return servers.keySet().stream()
                .map(server -> path.replace("*", server))
                .collect(Collectors.joining("\n"));
    }

    private void startPrometheus(String... command) throws IOException {
        Tool tool = Tool.named(command[0]);
        String directory = name + "-prometheus";
        Path folder = Server.emptyDirectory(directory);
        Files.copy(project.folder().resolve("prometheus.yml"), folder.resolve("prometheus.yml"));
        Files.copy(OperationsFiles.ALERTS.resolve("weir-alerts.yml"), folder.resolve("weir-alerts.yml"));
        command[0] = tool.program().toString();
        prometheus = Prometheus.of(Server.run(new ProcessBuilder(command), directory, port("9090")));
    }

    /** Waits until Prometheus has an answer to a query. */
    void verifyQuery(String query) {
        Await.until(
                query,
                MAX_WAIT,
                Duration.ofMillis(200),
                () -> prometheus.value("count(" + query + ")").isPresent());
    }

    /** The path of a file, of the project or of a running server. */
    private Path file(String path) {
        Path file = Path.of(path);
        if (!file.startsWith(SERVERS)) {
            return project.folder().resolve(file);
        }
        Path relative = SERVERS.relativize(file);
        String server = relative.getName(0).toString();
        String directory = name + "-" + server;
        return servers.get(server)
                .join()
                .directory()
                .resolve("servers")
                .resolve(directory)
                .resolve(relative.subpath(1, relative.getNameCount()));
    }

    private int port(String shown) {
        return ports.computeIfAbsent(shown, port -> ServerBuilder.freePort());
    }

    private void stop(String server) {
        CompletableFuture<Server> running = servers.remove(server);
        if (running != null) {
            running.join().close();
        }
    }

    @Override
    public void close() {
        servers.values()
                .forEach(server -> server.whenComplete((running, failure) -> {
                    if (running != null) {
                        running.close();
                    }
                }));
        if (prometheus != null) {
            prometheus.close();
        }
        if (redis != null) {
            redis.close();
        }
    }
}
