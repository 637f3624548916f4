// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The types that the glossary names exist. */
class GlossaryTest {
    private static final Pattern SECTION = Pattern.compile("(?ms)^## Terms of the source code$.*?(?=^## )");
    private static final Pattern NAMED_TYPE = Pattern.compile("types? ((?:`[A-Z]\\w+`(?:, )?)+)");
    private static final Pattern TYPE = Pattern.compile("`([A-Z][a-z]\\w+)`");

    private static final Pattern DECLARATION = Pattern.compile("\\b(?:class|record|interface|enum) ([A-Z]\\w+)");

    @Test
    void namesTypesOfTheSourceCode() throws IOException {
        String glossary = Files.readString(Pom.ROOT.resolve("docs/glossary.md"));
        Set<String> named = NAMED_TYPE
                .matcher(glossary)
                .results()
                .flatMap(list -> OperationsFiles.found(list.group(1), TYPE.pattern()).stream())
                .collect(Collectors.toCollection(HashSet::new));
        SECTION.matcher(glossary)
                .results()
                .forEach(section -> named.addAll(OperationsFiles.found(section.group(), TYPE.pattern())));
        assertThat(named).hasSizeGreaterThan(25);
        assertThat(types()).containsAll(named);
    }

    static Set<String> types() throws IOException {
        Set<String> types = new HashSet<>();
        for (Pom module : Pom.released()) {
            try (Stream<Path> sources = Files.walk(module.folder().resolve("src/main/java"))) {
                sources.filter(source -> source.toString().endsWith(".java"))
                        .map(DocumentedNamesTest::readPath)
                        .forEach(source -> types.addAll(OperationsFiles.found(source, DECLARATION.pattern())));
            }
        }
        return types;
    }
}
