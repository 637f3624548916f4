// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.config.Problems;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of the console and of runtime changes. */
class OperationsSettingsTest {
    private final Problems problems = new Problems();

    private ConfigReader reader(String... lines) {
        Map<String, String> properties = new HashMap<>();
        for (String line : lines) {
            int equals = line.indexOf('=');
            properties.put(line.substring(0, equals), line.substring(equals + 1));
        }
        return new ConfigReader(ConfigProperties.of(properties), problems);
    }

    private ConsoleSettings console(String... lines) {
        return ConsoleSettings.read(reader(lines));
    }

    private ChangeSettings changes(String... lines) {
        return ChangeSettings.read(reader(lines));
    }

    @Test
    void nothingNeedsToBeConfigured() {
        assertThat(console()).isEqualTo(ConsoleSettings.CLOSED);
        assertThat(changes()).isEqualTo(ChangeSettings.NONE);
        assertThat(problems.found()).isEmpty();
    }

    @Test
    void everythingCanBeConfigured() {
        assertThat(console(
                        "ratelimit.console.enabled=true",
                        "ratelimit.console.role=operator",
                        "ratelimit.console.grafana=https://grafana.example.org/d/weir"))
                .isEqualTo(new ConsoleSettings(
                        true, Optional.of("operator"), false, Optional.of("https://grafana.example.org/d/weir")));
        assertThat(changes("ratelimit.changes.enabled=true", "ratelimit.changes.role=changer"))
                .isEqualTo(new ChangeSettings(true, Optional.of("changer")));
        assertThat(problems.found()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"javascript:alert(1)", "//example.org", "data:text/html,x", "https://", "https://a b"})
    void anAddressOfDashboardsThatIsNoWebAddressIsReported(String text) {
        assertThat(console("ratelimit.console.grafana=" + text).grafana()).isEmpty();
        assertThat(problems.found())
                .singleElement()
                .satisfies(problem -> assertThat(problem.problem())
                        .isEqualTo("must be an address such as https://grafana.example.org/d/weir"));
    }

    @Test
    void theConsoleIsForARoleOrOpenAndNotBoth() {
        assertThat(console("ratelimit.console.open=true").open()).isTrue();
        assertThat(problems.found()).isEmpty();
        ConsoleSettings both = console("ratelimit.console.open=true", "ratelimit.console.role=operator");
        assertThat(both.open()).isFalse();
        assertThat(problems.message())
                .contains("WEIR-131 ratelimit.console.open = true: the console is open to everyone, although"
                        + " ratelimit.console.role restricts it to a role;");
    }

    @ParameterizedTest
    @ValueSource(strings = {"enabled", "open"})
    void aFlagOfTheConsoleThatIsNeitherTrueNorFalseIsReported(String flag) {
        assertThat(console("ratelimit.console." + flag + "=yes")).isEqualTo(ConsoleSettings.CLOSED);
        assertThat(problems.message())
                .contains("WEIR-102 ratelimit.console." + flag + " = yes: must be true or false;");
    }

    @Test
    void aBlankRoleOfTheConsoleIsReported() {
        console("ratelimit.console.role=  ");
        assertThat(problems.message()).contains("WEIR-132 ratelimit.console.role: the role is blank");
    }

    @Test
    void runtimeChangesNeedARole() {
        assertThat(changes("ratelimit.changes.enabled=true")).isEqualTo(ChangeSettings.NONE);
        assertThat(problems.message())
                .contains("WEIR-139 ratelimit.changes.role: runtime changes have no role;"
                        + " set the name of the role that makes changes");
    }

    @Test
    void aBlankRoleOfChangesIsReported() {
        assertThat(changes("ratelimit.changes.enabled=true", "ratelimit.changes.role=  ")
                        .enabled())
                .isFalse();
        assertThat(problems.message()).contains("WEIR-139 ratelimit.changes.role: runtime changes have no role");
    }
}
