// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The tests of the page about tests pass as written. */
@Timeout(60)
class PageTest {
    private static final Path PAGE = Path.of("../docs/how-to/test-your-limits.md");
    private static final Pattern FILE =
            Pattern.compile("(?ms)^```(?:java|properties)\\n(?://|#) src/\\w+/\\w+/(\\S+)\\n(.*?)^```$");

    @TempDir
    private Path folder;

    private final Map<String, String> files = new TreeMap<>();

    @BeforeEach
    void read() throws IOException {
        Matcher file = FILE.matcher(Files.readString(PAGE));
        while (file.find()) {
            files.put(file.group(1), file.group(2));
        }
    }

    private void compile() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path path = folder.resolve(file.getKey());
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.getValue());
            if (file.getKey().endsWith(".java")) {
                sources.add(path);
            }
        }
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> options = List.of("-d", folder.toString(), "-cp", classPath, "-proc:none", "-parameters");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter errors = new StringWriter();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            assertThat(compiler.getTask(
                                    errors, manager, null, options, null, manager.getJavaFileObjectsFromPaths(sources))
                            .call())
                    .as("%s", errors)
                    .isTrue();
        }
    }

    private TestExecutionSummary run() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
            for (String file : files.keySet()) {
                if (file.endsWith("Test.java")) {
                    request.selectors(selectClass(loader.loadClass(file.replace(".java", ""))));
                }
            }
            LauncherDiscoveryRequest all = request.build();
            SummaryGeneratingListener summary = new SummaryGeneratingListener();
            LauncherFactory.create().execute(all, summary);
            return summary.getSummary();
        }
    }

    @Test
    void theTestsOfThePagePass() throws Exception {
        compile();
        TestExecutionSummary summary = run();
        StringWriter failures = new StringWriter();
        summary.printFailuresTo(new java.io.PrintWriter(failures, true), 20);
        assertThat(failures.toString()).isEmpty();
        assertThat(summary.getTestsSucceededCount())
                .isEqualTo(summary.getTestsFoundCount())
                .isGreaterThan(11);
    }

    /** Its configuration names a resolver and a Redis, which the test does not list. */
    @Test
    void theFirstTestOfThePagePassesInTheApplicationOfTheTutorial() throws Exception {
        files.keySet().removeIf(name -> name.endsWith("Test.java") && !name.equals("MailServiceTest.java"));
        Matcher file =
                FILE.matcher(Files.readString(Path.of("../docs/tutorial.md")).replaceAll("(?m)^ {3}(?=.)", ""));
        while (file.find()) {
            if (file.group(1).endsWith("/Plans.java")) {
                files.put(file.group(1), file.group(2));
            }
        }
        assertThat(files).containsKey("org/example/shop/Plans.java");
        files.merge("META-INF/microprofile-config.properties", """
                ratelimit.policies.books.limit=10/1m
                ratelimit.policies.books.tier=plans
                ratelimit.policies.books.tiers.premium.limit=100/1m
                ratelimit.redis.address=redis://localhost:1
                """, String::concat);
        compile();
        TestExecutionSummary summary = run();
        StringWriter failures = new StringWriter();
        summary.printFailuresTo(new java.io.PrintWriter(failures, true), 20);
        assertThat(failures.toString()).isEmpty();
        assertThat(summary.getTestsSucceededCount()).isEqualTo(3);
    }

    /** Without this, tests that never run would pass as well. */
    @Test
    void aTestFailsIfTheLimitOfThePageChanges() throws Exception {
        files.computeIfPresent("META-INF/microprofile-config.properties", (name, text) -> text.replace("3/1h", "4/1h"));
        compile();
        assertThat(run().getFailures())
                .extracting(failure -> failure.getTestIdentifier().getDisplayName())
                .containsExactly("sendsThreeMailsPerHour()");
    }

    @Test
    void eachSnippetWithCodeNamesItsFile() throws IOException {
        assertThat(Files.readString(PAGE).split("(?m)^```(?:java|properties)$")).hasSize(files.size() + 1);
    }
}
