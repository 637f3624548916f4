// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;

/** The metrics of a server at an instant, in the text format of MicroProfile Metrics. */
record Scrape(List<String> lines) {
    /** Scrapes a server. The result is empty if the server has no metrics. */
    static Scrape of(Server server) {
        HttpResponse<String> response = Http.get(server.baseUri().resolve("metrics"));
        return new Scrape((response.statusCode() == 200 ? response.body() : "")
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList());
    }

    /** Returns the sum of the series with a name and texts in their tags; 0 if there is none. */
    double sum(String name, String... tags) {
        return lines.stream()
                .filter(line -> line.startsWith(name + "{") && Stream.of(tags).allMatch(line::contains))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                .mapToDouble(Double::parseDouble)
                .sum();
    }
}
