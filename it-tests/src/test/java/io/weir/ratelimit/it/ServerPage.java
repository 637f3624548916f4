// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A page about one server and the project of its reader, who has the resource of the page, or of the page of GlassFish, and who has put
 * Weir into the local Maven repository. This repository is not changed: the project has another one, with links to the artifacts of the first.
 */
record ServerPage(String name, String text, Path folder, String javaHome) {
    private static final Path PAGES = Path.of("../docs/how-to");
    private static final Path REPOSITORY = Path.of(Server.required("weir.repository"));
    private static final String CLASSES = "src/main/java/org/example/shop/";

    static ServerPage of(String name, String javaHome) throws IOException {
        ServerPage page = withoutResource(name, javaHome);
        Path folder = page.folder;
        ServerPage glassfish =
                new ServerPage("glassfish", Files.readString(PAGES.resolve("glassfish.md")), folder, javaHome);
        ServerPage resource = page.text.contains("class HelloResource") ? page : glassfish;
        page.write(CLASSES + "ShopApplication.java", glassfish.snippet("class ShopApplication"));
        page.write(CLASSES + "HelloResource.java", resource.snippet("class HelloResource"));
        page.write(
                "src/main/resources/META-INF/microprofile-config.properties", resource.snippet("policies.hello.limit"));
        return page;
    }

    /** Creates an empty project with the repository. */
    static ServerPage withoutResource(String name, String javaHome) throws IOException {
        Path folder = Server.emptyDirectory("page-" + name).toRealPath();
        ServerPage page = new ServerPage(name, Files.readString(PAGES.resolve(name + ".md")), folder, javaHome);
        page.write(".mvn/maven.config", "-B\n-ntp\n-Dmaven.repo.local=" + page.repository() + "\n");
        return page;
    }

    /** Returns the first snippet with a text. */
    String snippet(String part) {
        return Snippet.of(text).stream()
                .map(Snippet::text)
                .filter(snippet -> snippet.contains(part))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the command of the page that begins with, or contains, a text. */
    String line(String part) {
        return text.lines()
                .map(String::strip)
                .filter(line -> line.contains(part))
                .findFirst()
                .orElseThrow();
    }

    void write(String path, String content) throws IOException {
        new PageProject(folder).write(path, content);
    }

    /** Runs a command of the page until its end, and returns its output. */
    String run(String start) {
        String command = text.contains("`" + start + "`") ? start : line(start);
        return Tool.named("bash").run(folder, "-c", "export JAVA_HOME=" + javaHome + "; exec 2>&1; " + command);
    }

    /**
     * Starts a server by a command of the page.
     *
     * @param changed the command with other ports
     */
    Server start(String command, UnaryOperator<String> changed, int port) throws IOException {
        assertThat(text).contains(command);
        ProcessBuilder shell = new ProcessBuilder("bash", "-c", changed.apply(command));
        shell.environment().put("JAVA_HOME", javaHome);
        shell.environment().merge("PATH", Path.of(javaHome, "bin") + ":", (path, first) -> first + path);
        return Server.run(shell, folder.getFileName().toString(), port);
    }

    private Path repository() throws IOException {
        Path own = Files.createDirectories(folder.resolve("repository/io/weir"));
        link(REPOSITORY, own.getParent().getParent(), "io");
        link(REPOSITORY.resolve("io"), own.getParent(), "weir");
        for (String folder : List.of(".", "bom", "api", "core", "interceptor", "test-kit")) {
            Pom pom = Pom.of(Pom.ROOT.resolve(folder));
            Files.copy(pom.folder().resolve("pom.xml"), artifact(own, pom, ".pom"));
            if (pom.text("/project/packaging").isEmpty()) {
                Files.copy(pom.jar(), artifact(own, pom, ".jar"));
            }
        }
        return own.getParent().getParent();
    }

    private static Path artifact(Path group, Pom pom, String suffix) throws IOException {
        Path version = Files.createDirectories(group.resolve(pom.artifact()).resolve(Pom.version()));
        return version.resolve(pom.artifact() + "-" + Pom.version() + suffix);
    }

    private static void link(Path from, Path to, String except) throws IOException {
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : entries.filter(path -> !path.endsWith(except)).toList()) {
                Files.createSymbolicLink(to.resolve(entry.getFileName()), entry);
            }
        }
    }
}
