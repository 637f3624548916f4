// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShownClassesTest {
    private static final Path PAGE = Path.of("../docs/how-to/tiers-from-a-database.md");
    private static final Pattern HEAD = Pattern.compile("(?s)^.*?(?=import )");

    @ParameterizedTest
    @ValueSource(strings = {"PlanTiers", "ContractLimits"})
    void thePageContainsTheCompiledClass(String name) throws IOException {
        String source = Files.readString(Path.of("src/test/java/io/weir/ratelimit/docs/" + name + ".java"));
        assertThat(Files.readString(PAGE))
                .contains("```java\n" + HEAD.matcher(source).replaceFirst("") + "```\n");
    }
}
