// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Creates the files, runs the commands and compares the output of the tutorial and of the README. */
@Tag("server")
@Tag("ci")
class TutorialIT {
    private boolean failed;

    @TestFactory
    Stream<DynamicTest> followsTheTutorial() throws IOException {
        return follow("tutorial", Path.of("../docs/tutorial.md"), "\\d\\. .*");
    }

    @Test
    void limitsTheResourceOfTheReadme() throws IOException {
        PageProject project = new PageProject(Server.emptyDirectory("readme"));
        Map<String, List<Snippet>> sections = Snippet.bySection(Path.of("../README.md"));
        List<Snippet> use = sections.get("Use it");
        String dependency = use.get(0).text();
        assertThat(dependency).contains("<artifactId>weir-interceptor</artifactId>", Pom.version());
        project.write("pom.xml", "<project><dependencies>" + dependency + "</dependencies></project>");
        project.write(
                "src/main/liberty/config/server.xml",
                Files.readString(Path.of(Server.required("weir.example.server.xml"))));
        project.write("src/main/java/HelloApplication.java", """
                @jakarta.ws.rs.ApplicationPath("/api")
                public class HelloApplication extends jakarta.ws.rs.core.Application {}
                """);
        try (PageShell shell = new PageShell("readme", project)) {
            follow(use.subList(1, use.size()), project, shell);
            shell.run(new Snippet("shell", "mvn package liberty:run"));
            follow(sections.get("See it"), project, shell);
        }
    }

    private Stream<DynamicTest> follow(String name, Path page, String heading) throws IOException {
        PageProject project = new PageProject(Server.emptyDirectory(name));
        PageShell shell = new PageShell(name, project);
        Map<String, List<Snippet>> sections = Snippet.bySection(page);
        return sections.keySet().stream()
                .filter(step -> step.matches(heading))
                .map(step -> DynamicTest.dynamicTest(step, () -> {
                    Assumptions.assumeFalse(failed, "an earlier step failed");
                    failed = true;
                    follow(sections.get(step), project, shell);
                    failed = false;
                }))
                .onClose(shell::close);
    }

    private static void follow(List<Snippet> snippets, PageProject project, PageShell shell) {
        assertThat(snippets).isNotEmpty();
        String output = "";
        for (Snippet snippet : snippets) {
            switch (snippet.language()) {
                case "shell" -> output = shell.run(snippet);
                case "text" -> ShownOutput.verifyText(snippet.text(), output);
                case "http" -> ShownOutput.verifyResponse(snippet.text(), output);
                case "promql" -> shell.verifyQuery(snippet.text());
                default -> project.apply(snippet, shell::mapped);
            }
        }
    }
}
