// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The alert rules, the dashboard, the names of metrics in both, and the load script. */
final class OperationsFiles {
    static final Path ALERTS = Path.of("../docs/operations/alerts");
    static final Path LOAD_SCRIPT = Path.of("../docs/operations/load-test/weir-load.lua");
    static final Path DASHBOARD = Path.of("../docs/operations/dashboards/weir.json");

    private static final Pattern METRIC = Pattern.compile(
            "\\| `(ratelimit\\.[a-z.]+)` \\| (counter|up-down counter|histogram in seconds|histogram)[^|]*\\|([^|]*)\\|");

    /** A name before a selector, or a name with the prefix of a metric. */
    private static final Pattern USED = Pattern.compile(
            "\\b(?:ratelimit_|weir:|redis_)[\\w:]+(?:\\(_ratio\\)\\?\\w+)?|\\b[a-zA-Z_][\\w:]*(?=[{\\[])");

    private static final Pattern LABEL = Pattern.compile("[{,](\\w+)(?==|!)");
    private static final Pattern GROUPED = Pattern.compile("\\b(?:by|on|without) ?\\(([\\w, ]*)\\)");

    private OperationsFiles() {}

    static String rules() {
        return read(ALERTS.resolve("weir-alerts.yml"));
    }

    /** Returns the names of the recording rules. */
    static Set<String> recorded() {
        return found(rules(), "(?m)- record: (\\S+)$");
    }

    /** Returns the documented metrics, with underscores. */
    static Set<String> metrics() {
        return documented().map(OperationsFiles::name).collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Returns the Prometheus series of the documented metrics. A counter ends in _total, a duration is in seconds, and a histogram can have
     * _ratio for the unit 1.
     */
    static Set<String> exposed() {
        return documented()
                .flatMap(metric -> {
                    String name = name(metric);
                    return switch (metric.group(2)) {
                        case "counter" -> Stream.of(name + "_total");
                        case "histogram in seconds" -> histogram(name + "_seconds");
                        case "histogram" -> Stream.concat(histogram(name), histogram(name + "_ratio"));
                        default -> Stream.of(name);
                    };
                })
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the tags of the documented metrics and those of Prometheus. */
    static Set<String> labels() {
        Set<String> labels = documented()
                .flatMap(metric -> found(metric.group(3), "`(\\w+)`").stream())
                .collect(Collectors.toCollection(TreeSet::new));
        labels.addAll(Set.of("job", "instance", "le", "__name__"));
        return labels;
    }

    /** Returns the names of metrics in an expression. */
    static Set<String> metricsOf(String expression) {
        return USED.matcher(expression)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the labels in the selectors and groupings of an expression. */
    static Set<String> labelsOf(String expression) {
        Set<String> labels = new TreeSet<>(found(expression, LABEL.pattern()));
        found(expression, GROUPED.pattern()).forEach(list -> labels.addAll(Set.of(list.split(",\\s*"))));
        return labels;
    }

    static Set<String> found(String text, String regex) {
        return Pattern.compile(regex)
                .matcher(text)
                .results()
                .map(result -> result.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<MatchResult> documented() {
        return METRIC.matcher(read(Path.of("../docs/reference/observability.md")))
                .results();
    }

    private static String name(MatchResult metric) {
        return metric.group(1).replace('.', '_');
    }

    private static Stream<String> histogram(String name) {
        return Stream.of("_bucket", "_count", "_sum").map(name::concat);
    }
}
