// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page about the path of a request names existing types, each once. A test of the Redis backend runs a request through them. */
class RequestPathTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| \\[\\w+]\\(#\\w+\\) \\|(.*)\\|(.*)\\|$");
    private static final Pattern TYPE = Pattern.compile("`([A-Z]\\w+)`");

    @Test
    void namesTheTypesOfThePathOnce() throws IOException {
        String page = Files.readString(Pom.ROOT.resolve("docs/explanation/how-a-request-is-decided.md"));
        List<String> types = new ArrayList<>();
        List<String> values = new ArrayList<>();
        ROW.matcher(page).results().forEach(row -> {
            types.addAll(named(row.group(1)));
            values.addAll(named(row.group(2)));
        });
        assertThat(types).hasSizeGreaterThan(30).doesNotHaveDuplicates();
        assertThat(values).hasSizeGreaterThan(10).doesNotHaveDuplicates().doesNotContainAnyElementsOf(types);
        types.addAll(values);
        assertThat(GlossaryTest.types()).containsAll(types);
    }

    private static List<String> named(String cell) {
        return TYPE.matcher(cell).results().map(type -> type.group(1)).toList();
    }
}
