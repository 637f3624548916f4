// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The version and the machine of a measurement.
 *
 * @param date the day in UTC
 * @param commit the commit; with {@link #CHANGED} if the work tree has other changes than those of documents
 * @param machine the processors, the JDK and Redis
 */
record Origin(LocalDate date, String commit, String machine) {
    static final String CHANGED = "-changed";

    /** The files that no measurement depends on, and that the report itself changes. */
    private static final List<String> WITHOUT_DOCUMENTS = List.of("--", ".", ":!docs", ":!*.md");

    /**
     * Returns the origin of what the running jar measures.
     *
     * @param root the root of the repository
     * @param jar the running jar
     * @throws IOException if git fails
     */
    static Origin of(Path root, Path jar) throws IOException {
        String commit = git(root, List.of("rev-parse", "--short=8", "HEAD")).strip();
        boolean changed = !git(root, List.of("status", "--porcelain")).isEmpty();
        Instant committed = Instant.ofEpochSecond(
                Long.parseLong(git(root, List.of("log", "-1", "--format=%ct")).strip()));
        boolean older = Files.getLastModifiedTime(jar).toInstant().isBefore(committed);
        if (older) {
            System.err.println("The jar is older than commit " + commit + ": build it again.");
        }
        return new Origin(LocalDate.now(ZoneOffset.UTC), changed || older ? commit + CHANGED : commit, description());
    }

    private static String description() throws IOException {
        return String.format(
                Locale.ROOT,
                "%d × %s with load %.1f, JDK %s, Redis %s",
                Runtime.getRuntime().availableProcessors(),
                processor(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.version().feature() + "." + Runtime.version().interim() + "."
                        + Runtime.version().update(),
                redis());
    }

    private static String processor() throws IOException {
        Path file = Path.of("/proc/cpuinfo");
        if (Files.exists(file)) {
            try (Stream<String> lines = Files.lines(file)) {
                return lines.filter(line -> line.startsWith("model name"))
                        .map(line -> line.substring(line.indexOf(':') + 1).strip())
                        .findFirst()
                        .orElse(System.getProperty("os.arch"));
            }
        }
        return System.getProperty("os.arch");
    }

    private static String redis() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection redis = process.connect()) {
            Matcher version = Pattern.compile("redis_version:(\\S+)").matcher(redis.text("INFO", "server"));
            return version.find() ? version.group(1) : "of unknown version";
        }
    }

    private static String git(Path root, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("git", "-C", root.toString()));
        command.addAll(arguments);
        if (!arguments.get(0).equals("rev-parse")) {
            command.addAll(WITHOUT_DOCUMENTS);
        }
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException("failed: " + String.join(" ", command));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted: " + String.join(" ", command), e);
        }
        return output;
    }

    /** Returns the line below a table. */
    String line(Part part) {
        return "Measured on " + date + " at commit `" + commit
                + "` by `java -jar benchmarks/target/benchmarks.jar report " + part.name() + "`: " + machine + ".";
    }
}
