// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The reference of the configuration has the rows of {@link ConfigKeys}, and the readers use the defaults of the table. */
class ConfigurationReferenceTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "configuration.md");
    private static final Pattern ROW = Pattern.compile(
            "(?m)^\\| `(ratelimit\\.[^`]+)` \\| ((?:[^|\\\\]|\\\\.)*?) ?\\| ((?:[^|\\\\]|\\\\.)+) \\| ((?:[^|\\\\]|\\\\.)+) \\|$");
    private static final Pattern LINK = Pattern.compile("\\[([^\\]]+)]\\([^)]+\\)");
    private static final String LIMIT = "ratelimit.policies.api.limit=5/1s";

    private record Row(String name, String defaultText, String meaning, String form) {
        static Row of(ConfigKey<?> key) {
            String literal =
                    key.defaultValue().isPresent() && !key.defaultText().isEmpty() ? "`" : "";
            return new Row(
                    key.name(),
                    literal + key.defaultText() + literal,
                    key.meaning(),
                    key.form().description());
        }
    }

    @Test
    void theReferenceHasTheRowsOfTheTable() throws IOException {
        List<Row> rows = ROW.matcher(Files.readString(PAGE))
                .results()
                .map(row ->
                        new Row(row.group(1), row.group(2).replace("\\|", "|"), text(row.group(3)), text(row.group(4))))
                .toList();
        assertThat(rows)
                .containsExactlyElementsOf(
                        ConfigKeys.all().stream().map(Row::of).toList());
    }

    /** Removes the links and the marks of code, which the table does not have. */
    private static String text(String cell) {
        return LINK.matcher(cell.replace("`", "").replace("\\|", "|")).replaceAll("$1");
    }

    static Stream<ConfigKey<?>> settingsWithDefault() {
        return ConfigKeys.all().stream()
                .filter(key -> !key.isOfPolicy() && !key.defaultText().isEmpty());
    }

    @ParameterizedTest
    @MethodSource("settingsWithDefault")
    void theDefaultOfASettingChangesNothing(ConfigKey<?> key) {
        Problems problems = new Problems();
        assertThat(Settings.read(Configs.of(key.name() + "=" + key.defaultText()), problems))
                .usingRecursiveComparison()
                .isEqualTo(Settings.read(Configs.of(), problems));
        assertThat(problems.found()).isEmpty();
    }

    static Stream<ConfigKey<?>> attributesWithDefault() {
        return ConfigKeys.all().stream()
                .filter(key -> key.isOfPolicy() && key.defaultValue().isPresent());
    }

    @ParameterizedTest
    @MethodSource("attributesWithDefault")
    void theDefaultOfAnAttributeChangesNothing(ConfigKey<?> key) {
        ReadPolicies read =
                ReadPolicies.of(LIMIT, "ratelimit.policies.api." + key.attribute() + "=" + key.defaultText());
        assertThat(read.found()).isEmpty();
        assertThat(text(read.policy("api")))
                .isEqualTo(text(ReadPolicies.of(LIMIT).policy("api")));
    }

    private static String text(Policy policy) {
        return policy.toString().replaceAll("@[0-9a-f]+", "");
    }

    @Test
    void theTableHasTheConstantsOfThePolicy() {
        assertThat(ConfigKeys.MODE.form().description()).isEqualTo(oneOf(Policy.Mode.values()));
        assertThat(ConfigKeys.COUNT.form().description()).isEqualTo(oneOf(Policy.Count.values()));
        assertThat(ConfigKeys.DISCLOSURE.form().description()).isEqualTo(oneOf(Policy.Disclosure.values()));
        assertThat(ConfigKeys.MAX_WAITING.defaultValue()).contains(Policy.MAX_WAITING);
    }

    private static String oneOf(Enum<?>... constants) {
        return "one of "
                + String.join(
                        ", ",
                        Stream.of(constants)
                                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                                .toList());
    }
}
