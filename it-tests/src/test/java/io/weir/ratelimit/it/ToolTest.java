// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/** A test without its tool is skipped, unless the run requires the tool. */
class ToolTest {
    private static final String REQUIRE = "weir.test.require";

    @TempDir
    private Path folder;

    @Test
    void missingToolSkipsTheTest() {
        assertThatThrownBy(() -> Tool.named("no-such-tool"))
                .isInstanceOf(TestAbortedException.class)
                .hasMessageContaining("there is no no-such-tool on this machine");
    }

    @Test
    void missingRequiredToolFailsTheTest() {
        String before = System.getProperty(REQUIRE);
        System.setProperty(REQUIRE, "docker,no-such-tool");
        try {
            assertThatThrownBy(() -> Tool.named("no-such-tool"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("no-such-tool is required, but there is no no-such-tool on this machine");
        } finally {
            if (before == null) {
                System.clearProperty(REQUIRE);
            } else {
                System.setProperty(REQUIRE, before);
            }
        }
    }

    @Test
    void outputIsPartOfResultAndFailure() {
        Tool shell = Tool.named("sh");
        assertThat(shell.run(folder, "-c", "pwd; echo warning >&2"))
                .contains(folder.getFileName().toString(), "warning");
        assertThatThrownBy(() -> shell.run(folder, "-c", "echo wrong; exit 3"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("wrong");
    }
}
