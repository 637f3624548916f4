// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.JsonValue;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The dashboard uses existing metrics in valid expressions, and its panels do not overlap. */
class DashboardTest {
    /** The metrics of redis_exporter, which are named after the fields of INFO. */
    private static final Set<String> REDIS_METRICS = Set.of(
            "redis_up",
            "redis_memory_used_bytes",
            "redis_memory_max_bytes",
            "redis_connected_clients",
            "redis_blocked_clients",
            "redis_evicted_keys_total",
            "redis_cpu_user_seconds_total",
            "redis_cpu_sys_seconds_total",
            "redis_slowlog_length",
            "redis_commands_processed_total");

    private final JsonObject dashboard = read();

    @Test
    void eachPanelHasADescriptionAndTheSelectedDatasource() {
        assertThat(graphs()).hasSizeGreaterThan(15).allSatisfy(panel -> {
            assertThat(panel.getString("title")).isNotBlank();
            assertThat(panel.getString("description")).isNotBlank();
            JsonObject defaults = panel.getJsonObject("fieldConfig").getJsonObject("defaults");
            assertThat(defaults.getString("unit")).isNotBlank();
            assertThat(datasource(panel)).isEqualTo("${datasource}");
            assertThat(targets(panel)).isNotEmpty().allSatisfy(target -> {
                assertThat(datasource(target)).isEqualTo("${datasource}");
                assertThat(target.getString("legendFormat")).isNotBlank();
            });
        });
        assertThat(panels().map(panel -> panel.getString("title"))).doesNotHaveDuplicates();
        assertThat(panels().map(panel -> panel.getInt("id"))).doesNotHaveDuplicates();
    }

    @Test
    void panelsDoNotOverlap() {
        Set<List<Integer>> taken = new HashSet<>();
        panels().forEach(panel -> {
            JsonObject position = panel.getJsonObject("gridPos");
            assertThat(position.getInt("x") + position.getInt("w")).isLessThanOrEqualTo(24);
            for (int x = position.getInt("x"); x < position.getInt("x") + position.getInt("w"); x++) {
                for (int y = position.getInt("y"); y < position.getInt("y") + position.getInt("h"); y++) {
                    assertThat(taken.add(List.of(x, y)))
                            .as("%s at %d, %d", panel.getString("title"), x, y)
                            .isTrue();
                }
            }
        });
    }

    @Test
    void panelsUseExistingMetrics() {
        Set<String> existing = new TreeSet<>(OperationsFiles.exposed());
        existing.addAll(OperationsFiles.recorded());
        existing.addAll(REDIS_METRICS);
        existing.add("ALERTS");
        Set<String> labels = new TreeSet<>(OperationsFiles.labels());
        labels.addAll(Set.of("alertname", "alertstate"));
        assertThat(expressions()).hasSizeGreaterThan(20).allSatisfy(expression -> {
            assertThat(OperationsFiles.metricsOf(expression)).isNotEmpty().isSubsetOf(existing);
            assertThat(OperationsFiles.labelsOf(expression)).isSubsetOf(labels);
        });
        assertThat(variables("query").map(variable -> variable.getString("definition")))
                .allSatisfy(query -> assertThat(OperationsFiles.found(query, "label_values\\((\\w+)"))
                        .isNotEmpty()
                        .isSubsetOf(existing));
    }

    @Test
    void eachMetricIsUsed() {
        String shown = expressions().toList() + OperationsFiles.rules();
        assertThat(OperationsFiles.metrics())
                .hasSize(20)
                .allSatisfy(metric -> assertThat(shown).contains(metric));
    }

    @ParameterizedTest
    @ValueSource(strings = {"policy", "endpoint", "tier"})
    void decisionsAndRejectionsAreShownBy(String label) {
        assertThat(graphs().filter(panel -> panel.getString("title").endsWith(" by " + label)))
                .as("panels by %s", label)
                .anyMatch(panel -> panel.getString("title").startsWith("Decisions"))
                .anyMatch(panel -> panel.getString("title").startsWith("Reject"))
                .allSatisfy(panel -> assertThat(targets(panel)).allSatisfy(target -> {
                    assertThat(target.getString("legendFormat")).contains("{{" + label + "}}");
                    assertThat(target.getString("expr")).containsPattern("\\b" + label + "\\b|weir:\\w+");
                }));
    }

    /** The application bounds the number of endpoints, but a panel with a hundred lines cannot be read. */
    @Test
    void panelsByEndpointShowTheFirstTenOnly() {
        assertThat(expressions().filter(expression -> expression.contains("by (endpoint)")))
                .hasSize(2)
                .allMatch(expression -> expression.startsWith("topk(10, "));
    }

    @Test
    void panelsUseExactlyTheVariables() {
        Set<String> names = new TreeSet<>(
                dashboard.getJsonObject("templating").getJsonArray("list").getValuesAs(JsonObject.class).stream()
                        .map(variable -> variable.getString("name"))
                        .toList());
        assertThat(names).containsExactlyInAnyOrder("datasource", "job", "instance", "policy", "redis");
        Set<String> used = OperationsFiles.found(dashboard.toString(), "\\$\\{?([a-z]\\w*)");
        assertThat(used).isEqualTo(names);
    }

    @Test
    void promtoolAcceptsEachExpression(@TempDir Path folder) throws IOException {
        StringBuilder rules = new StringBuilder("groups:\n  - name: panels\n    rules:\n");
        List<String> expressions = expressions().toList();
        for (int i = 0; i < expressions.size(); i++) {
            rules.append("      - record: panel:").append(i).append("\n        expr: |\n          ");
            rules.append(expressions.get(i).replace("$__rate_interval", "1m")).append('\n');
        }
        Files.writeString(folder.resolve("panels.yml"), rules);
        assertThat(Tool.named("promtool").run(folder, "check", "rules", "panels.yml"))
                .contains("SUCCESS: " + expressions.size() + " rules found");
    }

    private static JsonObject read() {
        try (JsonReader reader = Json.createReader(new StringReader(OperationsFiles.read(OperationsFiles.DASHBOARD)))) {
            return reader.readObject();
        }
    }

    private Stream<JsonObject> panels() {
        return dashboard.getJsonArray("panels").getValuesAs(JsonObject.class).stream();
    }

    private Stream<JsonObject> graphs() {
        return panels().filter(panel -> !panel.getString("type").equals("row"));
    }

    private static List<JsonObject> targets(JsonObject panel) {
        return panel.getJsonArray("targets").getValuesAs(JsonObject.class);
    }

    private static String datasource(JsonObject of) {
        return of.getJsonObject("datasource").getString("uid");
    }

    private Stream<String> expressions() {
        return Stream.concat(
                        graphs().flatMap(panel -> targets(panel).stream()),
                        dashboard.getJsonObject("annotations").getJsonArray("list").stream()
                                .map(JsonValue::asJsonObject))
                .map(query -> query.getString("expr"));
    }

    private Stream<JsonObject> variables(String type) {
        return dashboard.getJsonObject("templating").getJsonArray("list").getValuesAs(JsonObject.class).stream()
                .filter(variable -> variable.getString("type").equals(type));
    }
}
