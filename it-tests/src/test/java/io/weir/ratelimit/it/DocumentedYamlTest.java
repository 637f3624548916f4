// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The YAML of the documents can be parsed, and the files for Envoy and Istio use only names that they define. */
class DocumentedYamlTest {
    private static final HowToPage EDGE = HowToPage.at(Path.of("../docs/explanation/edge-and-mesh.md"));

    private final Object envoy = parse(EDGE.snippet("A local limit in Envoy", "yaml"));
    private final Object istio = parse(EDGE.snippet("The same limit in Istio", "yaml"));

    @TestFactory
    Stream<DynamicTest> eachBlockCanBeParsed() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("../docs"))) {
            return files
                    .filter(file -> file.toString().endsWith(".md"))
                    .map(HowToPage::at)
                    .filter(page -> !page.snippets("yaml").isEmpty())
                    .map(page -> DynamicTest.dynamicTest(
                            page.name(),
                            () -> assertThat(page.snippets("yaml")).allSatisfy(DocumentedYamlTest::compose)))
                    .toList()
                    .stream();
        }
    }

    @Test
    void routesLeadToDefinedClusters() {
        List<Object> clusters = values(value(envoy, "clusters"), "name");
        assertThat(clusters).isNotEmpty();
        assertThat(values(envoy, "cluster")).isNotEmpty().isSubsetOf(clusters);
        assertThat(values(envoy, "cluster_name")).isNotEmpty().isSubsetOf(clusters);
    }

    @Test
    void bucketsBelongToAFilterOfTheChain() {
        assertThat(bucketFilters(envoy)).isNotEmpty().isSubsetOf(values(value(envoy, "http_filters"), "name"));
        assertThat(bucketFilters(istio)).isNotEmpty().isSubsetOf(values(istio, "name"));
    }

    @Test
    void bothFilesHaveTheSameEnforcedBucket() {
        assertThat(values(istio, "token_bucket")).isNotEmpty().isEqualTo(values(envoy, "token_bucket"));
        assertThat(Stream.of(envoy, istio).flatMap(file -> values(file, "default_value").stream()))
                .hasSize(4)
                .containsOnly(Map.of("numerator", 100, "denominator", "HUNDRED"));
    }

    private static List<Object> bucketFilters(Object file) {
        return values(file, "typed_per_filter_config").stream()
                .<Object>flatMap(filters -> ((Map<?, ?>) filters).keySet().stream())
                .toList();
    }

    /** Parses without types, because the files of Redisson have tags for its classes. */
    private static void compose(String yaml) {
        assertThat(new Yaml().composeAll(new StringReader(yaml))).as(yaml).isNotEmpty();
    }

    private static Object parse(String yaml) {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        Object parsed = new Yaml(new SafeConstructor(strict)).load(yaml);
        assertThat(parsed).as(yaml).isNotNull();
        return parsed;
    }

    private static Object value(Object node, String key) {
        assertThat(values(node, key)).as(key).hasSize(1);
        return values(node, key).get(0);
    }

    /** Returns the values of a key at any depth. */
    private static List<Object> values(Object node, String key) {
        if (node instanceof List<?> list) {
            return list.stream()
                    .flatMap(element -> values(element, key).stream())
                    .toList();
        }
        if (node instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .flatMap(entry -> Stream.concat(
                            Stream.<Object>of(entry.getValue()).filter(value -> key.equals(entry.getKey())),
                            values(entry.getValue(), key).stream()))
                    .toList();
        }
        return List.of();
    }
}
