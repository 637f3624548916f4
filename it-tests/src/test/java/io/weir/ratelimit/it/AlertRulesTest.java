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

/** The alert rules ask for metrics that there are, each is explained, and promtool runs the cases of each. */
class AlertRulesTest {
    private static final Pattern EXPRESSION = Pattern.compile(" expr: (?:\\|\\n((?: {10}.*\\n)+)|(.*)\\n)");

    @Test
    void promtoolFindsTheRulesRight() {
        assertThat(Tool.named("promtool").run(Operations.ALERTS, "check", "rules", "weir-alerts.yml"))
                .contains("SUCCESS: " + expressions().size() + " rules found");
    }

    @Test
    void eachAlertFiresInItsCasesAndInNoOther() {
        assertThat(Tool.named("promtool").run(Operations.ALERTS, "test", "rules", "weir-alerts-test.yml"))
                .contains("SUCCESS");
    }

    @Test
    void thereAreCasesOfEachAlertInBothDialectsAndOneInWhichItIsQuiet() {
        String cases = Operations.read(Operations.ALERTS.resolve("weir-alerts-test.yml"));
        assertThat(alerts()).hasSize(8).allSatisfy(alert -> {
            List<String> expected = Pattern.compile("alertname: " + alert + "\\n((?: {8}.*\\n)+)")
                    .matcher(cases)
                    .results()
                    .map(result -> result.group(1))
                    .toList();
            assertThat(expected)
                    .anyMatch(alerts ->
                            Operations.found(alerts, " job: (\\w+)[,}]").containsAll(Set.of("mp", "otel")))
                    .contains("        exp_alerts: []\n");
        });
    }

    @Test
    void theRulesAskForMetricsThatThereAre() {
        Set<String> there = new TreeSet<>(Operations.exposed());
        there.addAll(Operations.recorded());
        assertThat(there).contains("ratelimit_decisions_total", "ratelimit_breaker_open", "weir:refused:rate5m");
        assertThat(expressions()).hasSizeGreaterThan(8).allSatisfy(expression -> {
            assertThat(Operations.metricsOf(expression)).isNotEmpty().isSubsetOf(there);
            assertThat(Operations.labelsOf(expression)).isSubsetOf(Operations.labels());
        });
    }

    @Test
    void whatTheRulesSelectIsInTheReference() {
        Set<String> selected = Operations.found(String.join("\n", expressions()), "(?:outcome|result)!?=\"(\\w+)\"");
        assertThat(selected).contains("rejected", "bypassed");
        String reference = Operations.read(Path.of("../docs/reference/observability.md"));
        assertThat(selected).allSatisfy(value -> assertThat(reference).contains("`" + value + "`"));
    }

    @Test
    void eachAlertIsExplainedWhereItsAnnotationSays() {
        String document = Operations.read(Path.of("../docs/operations/alerts.md"));
        assertThat(Operations.found(document, "(?m)^## (Weir\\w+)$")).isEqualTo(alerts());
        assertThat(Operations.found(Operations.rules(), "runbook_url: (.*)\\n"))
                .isEqualTo(alerts().stream()
                        .map(alert -> "docs/operations/alerts.md#" + alert.toLowerCase(Locale.ROOT))
                        .collect(TreeSet::new, TreeSet::add, TreeSet::addAll));
    }

    private static Set<String> alerts() {
        return Operations.found(Operations.rules(), "(?m)- alert: (\\S+)$");
    }

    private static List<String> expressions() {
        return EXPRESSION
                .matcher(Operations.rules())
                .results()
                .map(AlertRulesTest::text)
                .toList();
    }

    private static String text(MatchResult expression) {
        return expression.group(1) == null ? expression.group(2) : expression.group(1);
    }
}
