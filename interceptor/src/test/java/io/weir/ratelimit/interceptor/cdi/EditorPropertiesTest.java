// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigKey;
import io.weir.ratelimit.core.config.ConfigKeys;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.Test;

/** The fields that editors read have the names, the types, the defaults and the descriptions of {@link ConfigKeys}. */
class EditorPropertiesTest {
    private static final Path SOURCE = Path.of("src/main/java/io/weir/ratelimit/interceptor/cdi/EditorProperties.java");

    private static final String START = "interface EditorProperties {";

    /** A property as the annotation of a field describes it. */
    private record Described(String name, String type, String defaultText) {}

    private static List<ConfigKey<?>> table() {
        return ConfigKeys.all().stream()
                .filter(key -> !key.name().startsWith("ratelimit.envoy."))
                .toList();
    }

    @Test
    void theFieldsAreThoseOfTheTable() {
        // PIT adds a synthetic field.
        assertThat(Arrays.stream(EditorProperties.class.getDeclaredFields())
                        .filter(field -> !field.isSynthetic())
                        .map(EditorPropertiesTest::described)
                        .toList())
                .containsExactlyElementsOf(
                        table().stream().map(EditorPropertiesTest::described).toList());
    }

    private static Described described(Field field) {
        ConfigProperty property = field.getAnnotation(ConfigProperty.class);
        return new Described(
                property.name(),
                field.getType().getSimpleName(),
                property.defaultValue().equals(ConfigProperty.UNCONFIGURED_VALUE) ? "" : property.defaultValue());
    }

    private static Described described(ConfigKey<?> key) {
        return new Described(mapName(key), type(key), literalDefault(key));
    }

    /** An editor accepts any text in place of a variable part. */
    private static String mapName(ConfigKey<?> key) {
        return key.name().replaceAll("<\\w+>|\"[^\"]+\"", "{*}");
    }

    private static String literalDefault(ConfigKey<?> key) {
        return key.defaultValue().isPresent() ? key.defaultText() : "";
    }

    private static String type(ConfigKey<?> key) {
        String form = key.form().description();
        return form.equals("true or false") ? "boolean" : form.startsWith("a whole number") ? "long" : "String";
    }

    /** {@code -Dweir.test.write=true} writes the fields; the formatter then breaks long lines. */
    @Test
    void theSourceIsThatOfTheTable() throws IOException {
        String source = Files.readString(SOURCE);
        String head = source.substring(0, source.indexOf(START) + START.length());
        String expected =
                head + table().stream().map(EditorPropertiesTest::field).collect(Collectors.joining()) + "}\n";
        if (Boolean.getBoolean("weir.test.write")) {
            Files.writeString(SOURCE, expected);
        }
        assertThat(words(Files.readString(SOURCE)))
                .as("the fields are not those of the table; -Dweir.test.write=true writes them")
                .isEqualTo(words(expected));
    }

    private static String field(ConfigKey<?> key) {
        String type = type(key);
        String text = literalDefault(key);
        String literal = switch (type) {
            case "boolean" -> text.isEmpty() ? "false" : text;
            case "long" -> text.isEmpty() ? "0" : text;
            default -> '"' + text + '"';
        };
        return """

                    /** %s. Value: %s. */
                    @ConfigProperty(name = "%s"%s)
                    %s %s = %s;
                """.formatted(
                        html(key.meaning().substring(0, 1).toUpperCase(Locale.ROOT)
                                + key.meaning().substring(1)),
                        html(key.form().description()),
                        mapName(key),
                        text.isEmpty() ? "" : ", defaultValue = \"" + text + '"',
                        type,
                        constant(key),
                        literal);
    }

    private static String html(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static String constant(ConfigKey<?> key) {
        return key.name()
                .substring("ratelimit.".length())
                .toUpperCase(Locale.ROOT)
                .replaceAll("[^A-Z0-9]+", "_")
                .replaceAll("_$", "");
    }

    private static String words(String source) {
        return source.replaceAll("[\\s*+\"]", "");
    }
}
