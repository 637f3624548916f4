// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A Prometheus process that scrapes one application each second and evaluates the alert rules. */
final class Prometheus implements AutoCloseable {
    private final Server process;

    private Prometheus(Server process) {
        this.process = process;
    }

    /**
     * Starts Prometheus with a copy of the rules in which the minutes of {@code for} and of ranges are seconds. The expressions are
     * otherwise the same.
     */
    static Prometheus start(Tool prometheus, String name, Server application) {
        int port = ServerBuilder.freePort();
        try {
            Path folder = Server.emptyDirectory(name);
            String rules = OperationsFiles.rules().replaceAll("(?<=\\[|for: |offset )(\\d+)m\\b", "$1s");
            Files.writeString(folder.resolve("rules.yml"), rules);
            Files.writeString(folder.resolve("prometheus.yml"), """
                    global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
                    rule_files: [rules.yml]
                    scrape_configs:
                      - job_name: example
                        metrics_path: /metrics
                        static_configs: [{targets: ['localhost:%d']}]
                    """.formatted(
                            application.baseUri().getPort()));
            return new Prometheus(Server.run(
                    new ProcessBuilder(
                            prometheus.program().toString(),
                            "--config.file=prometheus.yml",
                            "--storage.tsdb.path=data",
                            "--web.listen-address=127.0.0.1:" + port),
                    name,
                    port));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the Prometheus of a running process. */
    static Prometheus of(Server process) {
        return new Prometheus(process);
    }

    /** Returns the pending and firing alerts. */
    List<JsonObject> alerts() {
        return get("api/v1/alerts")
                .map(data -> data.getJsonArray("alerts").getValuesAs(JsonObject.class))
                .orElse(List.of());
    }

    /** Returns the value of an expression; empty unless the result is one series. */
    Optional<Double> value(String expression) {
        return get("api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
                .map(data -> data.getJsonArray("result").getValuesAs(JsonObject.class))
                .filter(series -> series.size() == 1)
                .map(series ->
                        Double.parseDouble(series.get(0).getJsonArray("value").getString(1)));
    }

    /** Returns the end of the log. */
    String tail() {
        return process.tail();
    }

    @Override
    public void close() {
        process.close();
    }

    private Optional<JsonObject> get(String path) {
        URI uri = process.baseUri().resolve(path);
        HttpResponse<String> response;
        try {
            response = Http.get(uri);
        } catch (UncheckedIOException e) {
            return Optional.empty(); // not listening yet
        }
        if (response.statusCode() != 200) {
            return Optional.empty();
        }
        try (JsonReader reader = Json.createReader(new StringReader(response.body()))) {
            return Optional.of(reader.readObject().getJsonObject("data"));
        }
    }
}
