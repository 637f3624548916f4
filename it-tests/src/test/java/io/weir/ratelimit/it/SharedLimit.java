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

/** One limit over several servers. */
final class SharedLimit {
    private SharedLimit() {}

    /**
     * Sends so many requests to each server at once, and checks that the untouched limit is let in exactly, in total.
     *
     * @return how many each server let in
     */
    static Map<URI, Long> verify(String policy, int limit, int each, List<URI> servers, String... headers) {
        Map<CompletableFuture<HttpResponse<String>>, URI> sent = IntStream.range(0, each)
                .boxed()
                .flatMap(i -> servers.stream())
                .collect(
                        LinkedHashMap::new,
                        (all, uri) -> all.put(Http.getAsync(uri, headers), uri),
                        LinkedHashMap::putAll);
        List<HttpResponse<String>> answers =
                sent.keySet().stream().map(CompletableFuture::join).toList();

        assertThat(answers.stream().collect(Collectors.groupingBy(HttpResponse::statusCode, Collectors.counting())))
                .isEqualTo(Map.of(200, (long) limit, 429, (long) servers.size() * each - limit));
        // Each one that was let in was told another number: none was let in without the store.
        assertThat(answers.stream()
                        .filter(answer -> answer.statusCode() == 200)
                        .map(Refusal::remaining)
                        .collect(Collectors.toMap(Function.identity(), remaining -> 1, Integer::sum)))
                .hasSize(limit)
                .containsOnlyKeys(LongStream.range(0, limit).boxed().toArray(Long[]::new));
        assertThat(answers)
                .filteredOn(answer -> answer.statusCode() == 429)
                .allSatisfy(answer -> Refusal.verify(answer, policy));
        return sent.entrySet().stream()
                .filter(entry -> entry.getKey().join().statusCode() == 200)
                .collect(Collectors.groupingBy(Map.Entry::getValue, Collectors.counting()));
    }
}
