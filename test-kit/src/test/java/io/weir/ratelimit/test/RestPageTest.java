// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The tests of the page about tests over HTTP pass, with Jersey and with RESTEasy. */
class RestPageTest {
    private static final Path PAGE = Path.of("../docs/how-to/test-over-http.md");
    private static final Pattern CLASS = Pattern.compile("(?ms)^(?<!-->\n)```java\n(import .*?)^```$");
    private static final Pattern NAME = Pattern.compile("(?m)^(?:public )?class (\\w+)");

    @TempDir
    private Path folder;

    @Test
    void theTestsOfThePagePass() throws Exception {
        List<String> sources = CLASS.matcher(Files.readString(PAGE))
                .results()
                .map(snippet -> snippet.group(1))
                .toList();
        compile(sources);
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        URL[] classes = {folder.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(classes, getClass().getClassLoader())) {
            for (String source : sources) {
                String name = name(source);
                if (name.endsWith("Test")) {
                    LauncherFactory.create()
                            .execute(
                                    LauncherDiscoveryRequestBuilder.request()
                                            .selectors(selectClass(loader.loadClass(name)))
                                            .build(),
                                    listener);
                }
            }
        }
        TestExecutionSummary summary = listener.getSummary();
        assertThat(summary.getFailures().stream().map(failure -> failure.getException()))
                .isEmpty();
        assertThat(summary.getTestsSucceededCount()).isEqualTo(3);
    }

    private static String name(String source) {
        Matcher name = NAME.matcher(source);
        assertThat(name.find()).as(source).isTrue();
        MatchResult found = name.toMatchResult();
        return found.group(1);
    }

    private void compile(List<String> sources) throws Exception {
        Stream.Builder<String> arguments = Stream.builder();
        Stream.of("-d", folder.toString(), "-cp", classPath(), "--release", "17", "-proc:none")
                .forEach(arguments);
        for (String source : sources) {
            arguments.add(Files.writeString(folder.resolve(name(source) + ".java"), source)
                    .toString());
        }
        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, arguments.build().toArray(String[]::new));
        assertThat(result).as("the compilation of %s", PAGE).isZero();
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                + File.pathSeparator;
    }
}
