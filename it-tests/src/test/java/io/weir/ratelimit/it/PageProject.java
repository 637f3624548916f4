// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jboss.shrinkwrap.api.Filters;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.asset.FileAsset;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/**
 * The Maven project that a reader creates from the snippets of a page. The first line of a snippet is a comment with the path of its
 * file. Before the path, {@code add to} or {@code add to <element> in} can appear.
 */
record PageProject(Path folder) {
    private static final Pattern TARGET =
            Pattern.compile("(?:// |# |<!-- )(add to )?(?:<(\\w+)> in )?(\\S+\\.\\w+)(?: -->)?\n");

    void write(String path, String content) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    /** Creates or changes the file that a snippet names, with the ports of the test. */
    void apply(Snippet snippet, UnaryOperator<String> ports) {
        Matcher target = TARGET.matcher(snippet.text());
        assertThat(target.lookingAt())
                .as("The first line names a file:\n%s", snippet.text())
                .isTrue();
        String content = ports.apply(snippet.text());
        String lines = ports.apply(snippet.text().substring(target.end()));
        Path file = folder.resolve(target.group(3));
        try {
            if (target.group(1) == null) {
                write(target.group(3), content);
            } else if (target.group(2) == null) {
                assertThat(file).exists();
                Files.writeString(file, lines, StandardOpenOption.APPEND);
            } else {
                StringBuilder xml = new StringBuilder(Files.readString(file));
                Files.writeString(file, xml.insert(xml.lastIndexOf("</" + target.group(2) + ">"), lines));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Pom pom() {
        return Pom.of(folder);
    }

    /** Compiles the classes and writes the WAR, with {@code ready.txt} for the wait until it is deployed. */
    Path war() throws IOException {
        WebArchive war = ShrinkWrap.create(WebArchive.class, "shop.war")
                .merge(TestWar.example(), "/", Filters.include("/WEB-INF/lib/.*"))
                .add(new StringAsset("ready"), "ready.txt");
        if (!dependsOn("weir-interceptor")) {
            war.delete("/WEB-INF/lib");
        }
        for (String optional : List.of("weir-redisson-backend", "weir-client", "weir-operations")) {
            if (!dependsOn(optional)) {
                war.delete("/WEB-INF/lib/" + optional + "-" + Pom.version() + ".jar");
            }
        }
        addFiles(war, classes());
        addFiles(war, folder.resolve("src/main/resources"));
        return TestWar.written(war, folder);
    }

    private boolean dependsOn(String artifact) {
        return pom().texts("/project/dependencies/dependency/artifactId").contains(artifact);
    }

    private Path classes() throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        DocumentCompiler.compile(files(folder.resolve("src/main/java")), classes);
        return classes;
    }

    private static void addFiles(WebArchive war, Path root) throws IOException {
        for (Path file : files(root)) {
            war.add(new FileAsset(file.toFile()), "/WEB-INF/classes/" + root.relativize(file));
        }
    }

    private static List<Path> files(Path root) throws IOException {
        if (!Files.exists(root)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }
}
