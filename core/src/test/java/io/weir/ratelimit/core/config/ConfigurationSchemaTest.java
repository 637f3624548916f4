// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The schema in the jar describes the properties of {@link ConfigKeys}, and a validator accepts the examples of the documents with it. */
class ConfigurationSchemaTest {
    private static final String FILE = "META-INF/weir/configuration.schema.json";
    private static final Path SOURCE = Path.of("src/main/resources", FILE);
    private static final Path DOCUMENTS = Path.of("..", "docs");
    private static final Pattern YAML = Pattern.compile("(?s)```yaml\\n(.*?)```");
    private static final ObjectMapper JSON = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT, SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);
    private static final YAMLMapper FILES = new YAMLMapper();
    private static final JsonSchema SCHEMA = schema();

    private static JsonSchema schema() {
        try (InputStream file = ConfigKeys.class.getResourceAsStream("/" + FILE)) {
            return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V7).getSchema(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** {@code -Dweir.test.write=true} writes the file. */
    @Test
    void theFileIsThatOfTheTable() throws IOException {
        String expected = text(ConfigKeys.all());
        if (Boolean.getBoolean("weir.test.write")) {
            Files.writeString(SOURCE, expected);
        }
        assertThat(Files.readString(SOURCE))
                .as("the file is not that of the table; -Dweir.test.write=true writes it")
                .isEqualTo(expected);
    }

    static Stream<List<ConfigKey<?>>> otherTables() {
        ConfigKey<?> first = ConfigKeys.all().get(0);
        return Stream.of(
                        new ConfigKey<>("ratelimit.on", Optional.of(true), "true", ValueForm.FLAG, first.meaning()),
                        new ConfigKey<>(first.name(), Optional.of(false), "false", ValueForm.FLAG, first.meaning()),
                        new ConfigKey<>(first.name(), Optional.of(1), "1", ValueForm.number(1, 2), first.meaning()),
                        new ConfigKey<>(first.name(), Optional.of(true), "true", ValueForm.FLAG, "enables all"))
                .map(changed -> {
                    List<ConfigKey<?>> table = new ArrayList<>(ConfigKeys.all());
                    table.set(0, changed);
                    return table;
                });
    }

    @ParameterizedTest
    @MethodSource("otherTables")
    void anotherTableHasAnotherFile(List<ConfigKey<?>> table) throws IOException {
        assertThat(text(table)).isNotEqualTo(Files.readString(SOURCE));
    }

    private static String text(List<ConfigKey<?>> table) throws IOException {
        DefaultIndenter indent = new DefaultIndenter("  ", "\n");
        return JSON.writer(new DefaultPrettyPrinter().withObjectIndenter(indent))
                        .writeValueAsString(ConfigurationSchema.of(table))
                + "\n";
    }

    static List<ConfigKey<?>> keys() {
        return ConfigKeys.all();
    }

    /** Whatever a property accepts, the schema accepts. */
    @ParameterizedTest
    @MethodSource("keys")
    void theSchemaAcceptsWhatAPropertyAccepts(ConfigKey<?> key) throws IOException {
        List<String> texts = List.of(
                "true",
                "false",
                "0",
                "1",
                "42",
                "10%",
                "80%, 100%",
                "5s",
                "100ms",
                "1h",
                "auto",
                "none",
                "open",
                "sliding-log",
                "off",
                "shadow",
                "failure",
                "early",
                "minimal",
                "allow",
                "count",
                "ietf, legacy",
                "draft-06",
                "retry-after",
                "20/1m",
                "10000/month",
                "5/1s, 9 / day",
                "/api/a",
                "UTC",
                "GET, POST",
                "10.0.0.0/8",
                "https://example.org/d",
                "0123456789abcdef",
                "mp",
                "forwarded",
                "otel");
        int accepted = 0;
        for (String text : texts) {
            if (accepts(key, text)) {
                accepted++;
                assertThat(problems(yaml(key.name(), text))).as(text).isEmpty();
                assertThat(problems(yaml(key.name(), "\"" + text + "\"")))
                        .as("%s in quotes", text)
                        .satisfiesAnyOf(
                                found -> assertThat(found).isEmpty(),
                                found -> assertThat(text).isEqualTo("false"));
            }
        }
        assertThat(accepted).isPositive();
        assertThat(problems(yaml(key.name(), "${A:5}"))).isEmpty();
    }

    private static boolean accepts(ConfigKey<?> key, String text) {
        if (key.name().endsWith(".limit")) {
            return text.matches("\\d+/\\w+.*");
        }
        try {
            key.form().parse(text);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    @ParameterizedTest
    @MethodSource("keys")
    void theSchemaRejectsAMisspelledName(ConfigKey<?> key) throws IOException {
        assumeThat(key.name()).doesNotEndWith("\"").doesNotEndWith(">");
        assertThat(problems(yaml(key.name() + "x", "1"))).isNotEmpty();
    }

    @Test
    void theSchemaAcceptsTheExamplesOfTheDocuments() throws IOException {
        int examples = 0;
        for (Path page : pages()) {
            for (String yaml : YAML.matcher(Files.readString(page))
                    .results()
                    .map(block -> block.group(1))
                    .filter(text -> text.startsWith("ratelimit:"))
                    .toList()) {
                examples++;
                assertThat(problems(yaml)).as("%s: %s", page, yaml).isEmpty();
            }
        }
        assertThat(examples).isGreaterThanOrEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ratelimit: {enabeld: true}",
                "ratelimit: {enabled: maybe}",
                "ratelimit: {ipv4-prefix: 33}",
                "ratelimit: {redis: {deadline: 100}}",
                "ratelimit: {redis: {dead-line: 100ms}}",
                "ratelimit: {policies: {hello: {limits: 5/10s}}}",
                "ratelimit: {policies: {hello: {limit: 5 per minute}}}",
                "ratelimit: {policies: {hello: {limit: [5/10s, 100]}}}",
                "ratelimit: {policies: {hello: {algorithm: slidingwindow}}}",
                "ratelimit: {policies: {hello: {concurrency: many}}}",
                "ratelimit: {policies: {hello: {penalty: {afer: 5/1m}}}}",
                "ratelimit: {policies: {hello: {tiers: {gold: {limti: 5/1m}}}}}",
                "ratelimit: {policies: {hello: {tiers: {\"go ld\": {limit: 5/1m}}}}}",
                "ratelimit: {policies: {hello: {costs: {/api/a: -1}}}}",
                "ratelimit: {clients: {partner: {retry-budget: 10}, other: {police: a}}}",
                "\"%test\": {ratelimit: {enabled: maybe}}"
            })
    void theSchemaRejectsAMistake(String yaml) throws IOException {
        assertThat(problems(yaml)).isNotEmpty();
    }

    @Test
    void theSchemaLeavesOtherPropertiesAlone() throws IOException {
        assertThat(problems("quarkus: {http: {port: 8080}}\n\"%test\": {ratelimit: {enabled: false}}"))
                .isEmpty();
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(DOCUMENTS)) {
            return files.filter(file -> file.toString().endsWith(".md")).toList();
        }
    }

    private static Set<ValidationMessage> problems(String yaml) throws IOException {
        JsonNode file = FILES.readTree(yaml);
        return SCHEMA.validate(file);
    }

    /** Writes a property as YAML without quotes around the value. */
    private static String yaml(String name, String value) {
        StringBuilder lines = new StringBuilder();
        String indent = "";
        for (String part : name.replaceAll("<(\\w+)>", "$1").split("\\.(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)")) {
            lines.append(indent).append(part).append(":\n");
            indent += "  ";
        }
        return lines.append(indent).append(value).append('\n').toString();
    }
}
