// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
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
        assertThat(get(page, "model/remaining/model-requests").body()).isEqualTo("499");
    }
}
