// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.benmanes.caffeine.cache.Caffeine;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.runtime.Weir;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program of the page about plain Java runs without a container, in process and on a Redis. */
@Timeout(120)
class PlainJavaTest {
    private static final Path PAGE = Path.of("../docs/how-to/use-weir-in-plain-java.md");

    /** What a program on Redis does not need: the parts for containers, their APIs, and the libraries of tests. */
    private static final Pattern NOT_NEEDED = Pattern.compile(
            "/(interceptor|client|operations|test-kit|tck|test-fixtures|it-tests)/|/(weir-(?!api|core|redisson)|jakarta|microprofile|weld|smallrye|arquillian|shrinkwrap|junit|selenium|opentelemetry|assertj)[^/]*$");

    @TempDir
    private Path folder;

    private final HowToPage page = HowToPage.at(PAGE);

    @Test
    void theProgramRunsWithTheCoreOnly() throws Exception {
        String core = Stream.of(Weir.class, RateLimiter.class, Caffeine.class, NullMarked.class)
                .map(PlainJavaTest::location)
                .collect(Collectors.joining(File.pathSeparator));
        Path properties = write(page.snippets("properties").get(0));
        assertThat(run(core, properties)).containsExactly("1 sent", "2 sent", "3 rejected");
    }

    @Test
    @Tag("redis")
    void programsOnRedisShareTheLimit() throws Exception {
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String classPath = Stream.of(all.split(File.pathSeparator))
                .filter(entry -> !NOT_NEEDED
                        .matcher(entry.replace(File.separatorChar, '/') + (entry.endsWith(".jar") ? "" : "/"))
                        .find())
                .collect(Collectors.joining(File.pathSeparator));
        // The first call of a program can precede the connection.
        Path properties = write(page.snippets("properties").get(0) + "\n"
                + page.snippets("properties")
                        .get(1)
                        .replace("redis://localhost:6379", RedisFixture.shared().address())
                        .replace("=mail", "=plain-" + UUID.randomUUID())
                + "\nratelimit.policies.mail.on-failure=closed\nratelimit.redis.deadline=10s\n");
        assertThat(run(classPath, properties)).containsExactly("1 sent", "2 sent", "3 rejected");
        assertThat(run(classPath, properties)).containsExactly("1 rejected", "2 rejected", "3 rejected");
    }

    @Test
    void theProgramReportsAllProblems() throws Exception {
        String core = Stream.of(Weir.class, RateLimiter.class, Caffeine.class, NullMarked.class)
                .map(PlainJavaTest::location)
                .collect(Collectors.joining(File.pathSeparator));
        Path properties = write("ratelimit.policies.mail.limit=many\nratelimit.policies.mail.mode=maybe\n");
        assertThat(String.join("\n", run(core, properties)))
                .contains(
                        "InvalidConfigurationException",
                        "ratelimit.policies.mail.limit",
                        "ratelimit.policies.mail.mode");
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("mail.properties"), text);
    }

    private static String location(Class<?> type) {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath())
                .toString();
    }

    /** Compiles the program with a class path, runs it, and returns what it writes. */
    private List<String> run(String classPath, Path properties) throws IOException, InterruptedException {
        Path source = Files.writeString(
                folder.resolve("MailProgram.java"), page.snippets("java").get(0));
        Path log = folder.resolve("output");
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath,
                        source.toString(),
                        properties.toString())
                .redirectOutput(log.toFile())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(program.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            program.destroyForcibly();
        }
        return Files.readAllLines(log).stream()
                .filter(line -> line.matches("\\d (sent|rejected)") || program.exitValue() != 0)
                .toList();
    }
}
