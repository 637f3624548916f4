// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.LongPredicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages about clients of a limited API, and about applications that are clients themselves. */
interface HowToClients extends HowToCalls {
    /** Each client of the page waits for a call that fits soon, and gives up if the wait is an hour. */
    @Test
    default void obeyA429(@TempDir Path folder) throws IOException {
        Map<String, BinaryOperator<String>> clients = clients(folder);
        assertThat(clients).hasSize(5);
        clients.forEach((name, client) -> {
            verify(name, client, "offers");
            verify(name, client, "reports");
        });
    }

    private void verify(String name, BinaryOperator<String> client, String path) {
        String key = name + "-" + path;
        String status = client.apply(server().uri("obey-a-429", "api/" + path).toString(), key)
                .strip();
        boolean soon = path.equals("offers");
        assertThat(status).as(key).isEqualTo(soon ? "200" : "429");
        assertThat(get("obey-a-429", "calls/" + key).body())
                .as("calls of %s", key)
                .isEqualTo(soon ? "2" : "1");
    }

    /** Returns the clients of the page by name: a URL and an API key become the status of the last response. */
    private Map<String, BinaryOperator<String>> clients(Path folder) throws IOException {
        HowToPage page = HowToPage.of("obey-a-429");
        String curl = page.snippet("curl", "shell").strip() + " -o /dev/null -w '%{http_code}' || true";
        Path javascript = Files.writeString(
                folder.resolve("client.mjs"), page.snippet("JavaScript: `fetch`", "javascript") + """
                const response = await patientFetch(process.argv[2], { headers: { 'X-Api-Key': process.argv[3] } });
                console.log(response.status);
                """);
        Path python = Files.writeString(folder.resolve("client.py"), page.snippet("Python: `urllib`", "python") + """
                import sys
                try:
                    print(patient_open(urllib.request.Request(sys.argv[1], headers={"X-Api-Key": sys.argv[2]})).status)
                except urllib.error.HTTPError as rejected:
                    print(rejected.code)
                """);
        Tool node = Tool.named("node");
        Tool python3 = Tool.named("python3");
        Map<String, BinaryOperator<String>> clients = new LinkedHashMap<>();
        clients.put(
                "curl",
                (url, key) -> server().run(
                                "obey-a-429",
                                curl.replace("https://api.example.org/api/offers", url)
                                        .replace("k1", key)));
        clients.put("node", (url, key) -> node.run(folder, javascript.toString(), url, key));
        clients.put("python", (url, key) -> python3.run(folder, python.toString(), url, key));
        for (String java : List.of("http", "rest")) {
            clients.put(
                    java,
                    (url, key) -> get("obey-a-429", "client/" + java + "?url=" + url + "&key=" + key)
                            .body());
        }
        return clients;
    }

    @Test
    default void outgoingCalls() {
        String page = "outgoing-calls";
        assertThat(get(page, "shop/interface/acme").body()).isEqualTo("offer for books");
        assertThat(get(page, "shop/remaining/partner-calls/acme").body()).isEqualTo("49");
        for (String how : List.of("a 429 of the partner", "its pause")) {
            assertThat(get(page, "shop/interface/busy").body()).as(how).isEqualTo("no offer for books now");
        }
        assertThat(get(page, "upstream/calls/busy").body()).isEqualTo("1");
    }

    @Test
    default void limitAJakartaRestClient() {
        String page = "limit-a-jakarta-rest-client";
        for (String how : List.of("client", "later")) {
            assertThat(get(page, "shop/" + how + "/acme").body()).as(how).isEqualTo("offer for books");
        }
        assertThat(get(page, "shop/remaining/partner-calls/acme").body()).isEqualTo("48");
    }

    @Test
    default void callALanguageModel() {
        String page = "call-a-language-model";
        assertThat(get(page, "model").body()).isEqualTo("an answer");
        Await.until(
                "the tokens are settled",
                TIMEOUT,
                () -> get(page, "model/remaining/model-tokens").body().equals("199958"));
        assertThat(get(page, "model/remaining/model-requests").body()).isIn("499", "500");
    }

    /** The provider of the page streams without an end for a prompt with "long", and answers a prompt with "busy" with a 429. */
    @Test
    default void limitALanguageModel() {
        String page = "limit-a-language-model";
        Await.until(
                "Redis is connected",
                TIMEOUT,
                Duration.ofMillis(200),
                () -> chat(page, "first", "hello").statusCode() == 200);

        assertThat(test(page, 0)).contains("\"total_tokens\":12").endsWith("data: [DONE]\n\n");
        awaitRemaining(page, "k1", tokens -> tokens == 20_000 - 12);

        // The command fails, because curl gives up.
        server().run(page, HowToPage.of(page).commands("Test it").get(1).strip() + " || true");
        Await.until("the provider sees the abort", TIMEOUT, () -> provider(page)[2] == 1);
        awaitRemaining(page, "k2", tokens -> tokens > 18_000);
        assertThat(20_000 - remaining(page, "k2")[0])
                .as("model tokens of the prompt and of the events")
                .isBetween(5L + 1, 5L + provider(page)[1]);

        assertThat(test(page, 2).lines()).as("three answers at once").containsExactlyInAnyOrder("200", "200", "429");
        awaitRemaining(page, "k3", tokens -> tokens > 18_000);
        assertThat(provider(page)[3]).as("permits of a lowered quota").isBetween(390L, 450L);

        long calls = provider(page)[0];
        for (String how : List.of("a 429 of the provider", "its pause", "the rest of its pause")) {
            HttpResponse<String> rejected = chat(page, "k5", "busy");
            assertThat(rejected.statusCode()).as(how).isEqualTo(503);
            assertThat(rejected.headers().firstValueAsLong("Retry-After").orElse(0))
                    .as(how)
                    .isBetween(60L, 101L);
        }
        assertThat(provider(page)[0]).as("calls that were sent").isEqualTo(calls + 1);
        awaitRemaining(page, "k5", tokens -> tokens == 20_000);
    }

    private HttpResponse<String> chat(String page, String apiKey, String prompt) {
        return Http.post(server().uri(page, "api/chat"), "text/plain", prompt, "X-Api-Key", apiKey);
    }

    /** Returns the calls of the provider, the events of its endless streams, its aborted streams, and the remaining calls of the client. */
    private long[] provider(String page) {
        return numbers(get(page, "provider").body(), "(\\d+)");
    }

    /** Waits until an API key has all slots again, and a number of model tokens. */
    private void awaitRemaining(String page, String apiKey, LongPredicate tokens) {
        Await.until("settlement of " + apiKey, TIMEOUT, Duration.ofMillis(200), () -> {
            long[] remaining = remaining(page, apiKey);
            return tokens.test(remaining[0]) && remaining[1] == 2;
        });
    }

    /** Returns the remaining model tokens and slots of an API key, without spending permits. */
    private long[] remaining(String page, String apiKey) {
        String quotas =
                Http.get(server().uri(page, "rate-limits"), "X-Api-Key", apiKey).body();
        return numbers(quotas, "\"remaining\":(\\d+)");
    }

    private static long[] numbers(String text, String pattern) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .mapToLong(number -> Long.parseLong(number.group(1)))
                .toArray();
    }
}
