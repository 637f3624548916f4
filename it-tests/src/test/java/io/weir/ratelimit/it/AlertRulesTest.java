// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The alert rules use existing metrics, each alert is documented, and promtool runs the test cases of each alert. */
class AlertRulesTest {
    private static final Pattern EXPRESSION = Pattern.compile(" expr: (?:\\|\\n((?: {10}.*\\n)+)|(.*)\\n)");

    @Test
    void promtoolAcceptsTheRules() {
        assertThat(Tool.named("promtool").run(OperationsFiles.ALERTS, "check", "rules", "weir-alerts.yml"))
                .contains("SUCCESS: " + expressions().size() + " rules found");
    }

    @Test
    void promtoolTestsPass() {
        assertThat(Tool.named("promtool").run(OperationsFiles.ALERTS, "test", "rules", "weir-alerts-test.yml"))
                .contains("SUCCESS");
    }

    @Test
    void eachAlertHasTestCases() {
        String cases = OperationsFiles.read(OperationsFiles.ALERTS.resolve("weir-alerts-test.yml"));
        assertThat(alerts()).hasSize(9).allSatisfy(alert -> {
            List<String> expected = Pattern.compile("alertname: " + alert + "\\n((?: {8}.*\\n)+)")
                    .matcher(cases)
                    .results()
                    .map(result -> result.group(1))
                    .toList();
            assertThat(expected)
                    .anyMatch(alerts ->
                            OperationsFiles.found(alerts, " job: (\\w+)[,}]").containsAll(Set.of("mp", "otel")))
                    .contains("        exp_alerts: []\n");
        });
    }

    @Test
    void rulesUseExistingMetrics() {
        Set<String> there = new TreeSet<>(OperationsFiles.exposed());
        there.addAll(OperationsFiles.recorded());
        assertThat(there).contains("ratelimit_decisions_total", "ratelimit_breaker_open", "weir:rejected:rate5m");
        assertThat(expressions()).hasSizeGreaterThan(8).allSatisfy(expression -> {
            assertThat(OperationsFiles.metricsOf(expression)).isNotEmpty().isSubsetOf(there);
            assertThat(OperationsFiles.labelsOf(expression)).isSubsetOf(OperationsFiles.labels());
        });
    }

    @Test
    void selectedTagValuesAreDocumented() {
        Set<String> selected =
                OperationsFiles.found(String.join("\n", expressions()), "(?:outcome|result)!?=\"(\\w+)\"");
        assertThat(selected).contains("rejected", "bypassed");
        String reference = OperationsFiles.read(Path.of("../docs/reference/observability.md"));
        assertThat(selected).allSatisfy(value -> assertThat(reference).contains("`" + value + "`"));
    }

    @Test
    void eachAlertHasADocumentedRunbook() {
        String document = OperationsFiles.read(Path.of("../docs/operations/alerts.md"));
        assertThat(OperationsFiles.found(document, "(?m)^## (Weir\\w+)$")).isEqualTo(alerts());
        assertThat(OperationsFiles.found(OperationsFiles.rules(), "runbook_url: (.*)\\n"))
                .isEqualTo(alerts().stream()
                        .map(alert -> "docs/operations/alerts.md#" + alert.toLowerCase(Locale.ROOT))
                        .collect(TreeSet::new, TreeSet::add, TreeSet::addAll));
    }

    private static Set<String> alerts() {
        return OperationsFiles.found(OperationsFiles.rules(), "(?m)- alert: (\\S+)$");
    }

    private static List<String> expressions() {
        return EXPRESSION
                .matcher(OperationsFiles.rules())
                .results()
                .map(AlertRulesTest::text)
                .toList();
    }

    private static String text(MatchResult expression) {
        return expression.group(1) == null ? expression.group(2) : expression.group(1);
    }
}
