// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The classes in how-to pages and in the README, which must compile with their imports. */
class SnippetsCompileTest {
    private static final Pattern SNIPPET = Pattern.compile("(?ms)^( *)```java\\n(.*?)^ *```$");
    private static final Pattern TYPE = Pattern.compile("(?m)^public class (\\w+)");

    /** Libraries from which users migrate, which are not on the class path. */
    private static final Pattern FOREIGN = Pattern.compile("import io\\.(github\\.bucket4j|smallrye)\\.");

    @TempDir
    private Path classes;

    @ParameterizedTest
    @MethodSource("pages")
    void compiles(Path page) throws IOException {
        List<JavaFileObject> sources = new ArrayList<>();
        for (String snippet : snippets(page)) {
            TYPE.matcher(snippet)
                    .results()
                    .findFirst()
                    .filter(type -> !FOREIGN.matcher(snippet).find())
                    .ifPresent(type -> sources.add(new Source(type.group(1), snippet)));
        }
        if (sources.isEmpty()) {
            return;
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter errors = new StringWriter();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> options =
                List.of("-d", classes.toString(), "-cp", classPath, "--release", "17", "-proc:none", "-parameters");
        boolean compiled =
                compiler.getTask(errors, null, null, options, null, sources).call();
        assertThat(compiled).as("%s", errors).isTrue();
    }

    private static Stream<Path> pages() throws IOException {
        try (Stream<Path> pages = Files.list(Path.of("../docs/how-to"))) {
            return Stream.concat(Stream.of(Path.of("../README.md")), pages.sorted()).toList().stream();
        }
    }

    private static List<String> snippets(Path page) throws IOException {
        return SNIPPET.matcher(Files.readString(page))
                .results()
                .map(SnippetsCompileTest::unindented)
                .toList();
    }

    private static String unindented(MatchResult snippet) {
        return snippet.group(2).replaceAll("(?m)^" + snippet.group(1), "");
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        private Source(String type, String text) {
            super(URI.create("string:///" + type + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
