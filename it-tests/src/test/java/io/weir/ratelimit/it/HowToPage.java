// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page with instructions. Comments in it exclude parts from the tests: {@code <!-- not compiled: reason -->} the next snippet, and {@code
 * <!-- not deployed: reason -->} below the title the whole page from deployment.
 */
record HowToPage(String name, String text) {
    private static final Path FOLDER = Path.of("../docs/how-to");
    private static final String REASON = ": [a-zA-Z`@][^\\n]+ -->";
    private static final Pattern NOT_COMPILED =
            Pattern.compile("(?ms)^ *<!-- not compiled" + REASON + "\\n+ *```.*?^ *```$");
    private static final Pattern NOT_DEPLOYED = Pattern.compile("\\A# [^\\n]+\\n\\n<!-- not deployed" + REASON + "\\n");
    private static final Pattern COMMANDS = Pattern.compile("(?ms)^( *)```\\n(.*?)^ *```$");

    static List<HowToPage> all() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.sorted().map(HowToPage::at).toList();
        }
    }

    static HowToPage of(String name) {
        return at(FOLDER.resolve(name + ".md"));
    }

    static HowToPage at(Path file) {
        try {
            return new HowToPage(file.getFileName().toString().replace(".md", ""), Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isMarkedAsNotDeployed() {
        return NOT_DEPLOYED.matcher(text).find();
    }

    /** Returns the snippets in a language, without those that are not compiled. */
    List<String> snippets(String language) {
        return Snippet.of(NOT_COMPILED.matcher(text).replaceAll("")).stream()
                .filter(snippet -> snippet.language().equals(language))
                .map(Snippet::text)
                .toList();
    }

    /** Returns the only snippet in a language below a second-level heading. */
    String snippet(String heading, String language) {
        List<String> found = new HowToPage(name, section(heading)).snippets(language);
        assertThat(found).as("%s in %s of %s", language, heading, name).hasSize(1);
        return found.get(0);
    }

    /** Returns the blocks without a language below a second-level heading, which contain commands and their output. */
    List<String> commands(String heading) {
        return COMMANDS.matcher(withoutLanguages(section(heading)))
                .results()
                .map(block -> block.group(2).replaceAll("(?m)^" + block.group(1), ""))
                .toList();
    }

    /** Returns the text below a second-level heading, or above the first one; empty without this heading. */
    String section(String heading) {
        String[] sections = text.split("(?m)^## ");
        return Arrays.stream(sections)
                .filter(section -> heading.isEmpty() ? section == sections[0] : section.startsWith(heading + "\n"))
                .findFirst()
                .orElse("");
    }

    private static String withoutLanguages(String section) {
        return section.replaceAll("(?ms)^( *)```\\w+\\n.*?^ *```$", "");
    }
}
