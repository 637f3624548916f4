// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** A limit that several servers share. */
final class SharedLimit {
    private SharedLimit() {}

    /**
     * Sends concurrent requests to each server and verifies that exactly the limit is allowed in total.
     *
     * @return the number of allowed requests per server
     */
    static Map<URI, Long> verify(String policy, int limit, int each, List<URI> servers, String... headers) {
        Map<CompletableFuture<HttpResponse<String>>, URI> sent = IntStream.range(0, each)
                .boxed()
                .flatMap(i -> servers.stream())
                .collect(
                        LinkedHashMap::new,
                        (all, uri) -> all.put(Http.getAsync(uri, headers), uri),
                        LinkedHashMap::putAll);
        List<HttpResponse<String>> responses =
                sent.keySet().stream().map(CompletableFuture::join).toList();

        assertThat(responses.stream().collect(Collectors.groupingBy(HttpResponse::statusCode, Collectors.counting())))
                .isEqualTo(Map.of(200, (long) limit, 429, (long) servers.size() * each - limit));
        // Each allowed request has a different number of remaining permits, so the backend decided all of them.
        assertThat(responses.stream()
                        .filter(response -> response.statusCode() == 200)
                        .map(LimitResponse::remaining)
                        .collect(Collectors.toMap(Function.identity(), remaining -> 1, Integer::sum)))
                .hasSize(limit)
                .containsOnlyKeys(LongStream.range(0, limit).boxed().toArray(Long[]::new));
        assertThat(responses)
                .filteredOn(response -> response.statusCode() == 429)
                .allSatisfy(response -> LimitResponse.verifyRejected(response, policy));
        return sent.entrySet().stream()
                .filter(entry -> entry.getKey().join().statusCode() == 200)
                .collect(Collectors.groupingBy(Map.Entry::getValue, Collectors.counting()));
    }
}
