// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The pages that apply limits. */
interface HowToLimits extends HowToCalls {
    @Test
    default void limitByUser() {
        String output = test("limit-by-user", 0);
        assertThat(output).startsWith("200\n200\n429\n");
        assertThat(output).containsPattern("(?i)\nratelimit: \"api\";r=1;t=\\d+");
        assertThat(get("limit-by-user", "hello").statusCode()).isEqualTo(401);
        assertThat(get("limit-by-user", "hello", "Authorization", basic("bob", "wrong"))
                        .statusCode())
                .isEqualTo(401);

        HttpResponse<String> quotas =
                Http.get(server().uri("limit-by-user", "rate-limits"), "Authorization", basic("alice", "secret"));
        assertThat(quotas.statusCode()).isEqualTo(200);
        assertThat(quotas.body()).contains("\"name\":\"api\",\"permits\":2,", "\"remaining\":0");
        assertThat(Http.get(server().uri("limit-by-user", "rate-limits")).body())
                .contains("\"name\":\"api\",\"permits\":2,", "\"remaining\":2");
        assertThat(Http.get(server().uri("limit-by-user", "rate-limits"), "Authorization", basic("alice", "wrong"))
                        .body())
                .doesNotContain("\"remaining\":0");

        for (String method : List.of("each", "each/other")) {
            assertThat(HowToCalls.remaining(get("limit-by-user", method), "each-method"))
                    .isEqualTo(19);
        }
    }

    @Test
    default void limitByApiKey() {
        String output = test("limit-by-api-key", 1);
        assertThat(output).startsWith("200\n200\n429\n");
        assertThat(output).containsPattern("(?i)\nratelimit: \"partners\";r=1;t=\\d+");
    }

    @Test
    default void limitByAddressBehindAProxy() {
        String page = "limit-by-address-behind-a-proxy";
        assertThat(test(page, 0).lines().map(line -> line.replaceAll(";t=.*", "")))
                .containsExactly("RateLimit: \"hello\";r=4", "RateLimit: \"hello\";r=3");
        for (String client : List.of("6.6.6.6", "7.7.7.7")) {
            assertThat(HowToCalls.remaining(get("local-proxy", "hello", "X-Forwarded-For", client), "hello"))
                    .as(client)
                    .isEqualTo(4);
        }
    }

    @Test
    default void limitFromCode() {
        assertThat(HowToPage.of("limit-from-code").text()).contains("ratelimit.policies.mail.limit=100/1m");
        for (int mail = 0; mail < 100; mail++) {
            assertThat(post("limit-from-code", "mail/acme").body()).isEqualTo("sent");
        }
        assertThat(Integer.parseInt(post("limit-from-code", "mail/acme").body()))
                .as("seconds until another attempt")
                .isBetween(1, 120);
        for (int mail = 0; mail < 101; mail++) {
            assertThat(post("limit-from-code", "mail/other/failing").body()).isEqualTo("failed");
        }
        assertThat(post("limit-from-code", "mail/other").body())
                .as("failures were refunded")
                .isEqualTo("sent");

        String alice = basic("alice", "secret");
        assertThat(get("limit-from-code", "hello", "Authorization", alice).statusCode())
                .isEqualTo(200);
        assertThat(get("limit-from-code", "quotas/alice").body()).isEqualTo("99");
        assertThat(get("limit-from-code", "quotas/bob").body()).isEqualTo("100");
        assertThat(post("limit-from-code", "quotas/alice").statusCode()).isEqualTo(204);
        assertThat(get("limit-from-code", "quotas/alice").body()).isEqualTo("100");
    }

    @Test
    default void loginProtection() {
        List<String> output =
                test("login-protection", 0).replace("\r", "").lines().toList();
        assertThat(output.get(0)).isEqualTo("401 ".repeat(5) + "429 ".repeat(2));
        assertThat(output.get(1)).isEqualTo("401 ".repeat(20) + "429 ".repeat(2));
        assertThat(output.get(2)).isEqualTo("401 ".repeat(10) + "429 ".repeat(2));
        String shown = HowToPage.of("login-protection").commands("Test it").get(1);
        String response = String.join("\n", output.subList(3, output.size()));
        ShownOutput.verifyResponse(shown, response.replaceAll("(?<=Retry-After: |retry_after\":|again in )\\d+", "59"));

        String[] office = {"X-Forwarded-For", "198.51.100.200"};
        for (int login = 0; login < 12; login++) {
            assertThat(login("login-protection", "username=zoe&password=secret", office))
                    .as("a success is refunded")
                    .isEqualTo(200);
        }
        for (String name : List.of("ann", "Ann", "ann+", "+ANN", "aNN")) {
            assertThat(login("login-normalized", "username=" + name + "&password=wrong"))
                    .isEqualTo(401);
        }
        assertThat(login("login-normalized", "username=ann&password=secret")).isEqualTo(429);
    }

    @Test
    default void hierarchicalQuotas() {
        List<String> output = test("hierarchical-quotas", 1).lines().toList();
        assertThat(output.stream().filter(line -> line.startsWith("HTTP/1.1 ")))
                .map(String::strip)
                .containsExactly("HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 429 Undefined");
        assertThat(output.get(output.size() - 1))
                .contains("\"detail\":\"The quota of the policy team is used up.\",\"violated-policies\":[\"team\"]");
        HttpResponse<String> other = get("hierarchical-quotas", "orgs/other/teams/sales/users/ann/orders");
        assertThat(LimitResponse.field(other, "RateLimit-Policy"))
                .isEqualTo("\"org\";q=10000;w=60, \"team\";q=3;w=60, \"user\";q=500;w=60");
    }

    @Test
    default void costs() {
        assertThat(test("costs", 0).lines().map(line -> line.replaceAll(";t=.*", "")))
                .containsExactly("RateLimit: \"api\";r=990", "RateLimit: \"api\";r=940");
        LimitResponse.verifyNoQuota(get("costs", "health"));
    }

    @Test
    default void settle() {
        assertThat(test("settle", 0).lines().map(line -> line.strip().replaceAll(";t=.*", "")))
                .containsExactly("RateLimit: \"tokens-1m\";r=5904", "RateLimit: \"tokens-1m\";r=5704");
        assertThat(post("settle", "completions/k2/5000").body()).isEqualTo("An answer to 60 words\n");
        assertThat(post("settle", "completions/k2/5001").statusCode())
                .as("5000 of 10000 tokens remain")
                .isEqualTo(429);
        assertThat(post("settle", "completions/k2/-5").statusCode()).isEqualTo(400);
        assertThat(get("settle", "export?rows=3").body()).isEqualTo("row 0\nrow 1\nrow 2\n");
        Await.until(
                "the stream is settled",
                TIMEOUT,
                () -> get("settle", "remaining/bytes").body().equals("49999982"));
    }

    @Test
    default void limitConcurrentCalls() {
        assertThat(test("limit-concurrent-calls", 0).lines()).containsExactlyInAnyOrder("200", "200", "429");
        assertThat(test("limit-concurrent-calls", 1).lines().map(String::strip))
                .containsExactlyInAnyOrder(
                        "RateLimit: \"reports\";r=1", "RateLimit-Policy: \"reports\";q=2;qu=\"concurrent-requests\"");
    }

    @Test
    default void monthlyQuotas() {
        String output = test("monthly-quotas", 1);
        assertThat(output).startsWith("200\n200\n429\n");
        assertThat(output)
                .containsPattern("(?i)ratelimit-policy: \"plan\";q=2;w=2[4-6]\\d{5}\r?\n")
                .containsPattern("(?i)retry-after: \\d+");
        HttpResponse<String> rejected = get("monthly-quotas", "reports", "X-Customer", "initech");
        assertThat(rejected.body())
                .containsPattern(
                        "The quota of the policy plan is used up and resets on 1 [A-Z][a-z]+ 00:00 Europe/Berlin");

        HttpResponse<String> ofBillingDay = get("monthly-quotas", "reports", "X-Customer", "globex");
        assertThat(LimitResponse.field(ofBillingDay, "RateLimit-Policy"))
                .startsWith("\"plan-1s\";q=10;w=1, \"plan-month\";q=10000;w=");
    }

    @Test
    default void tiersFromADatabase() {
        verifyLimit("premium", 10_000);
        verifyLimit("contract", 500);
        verifyLimit("none", 60);
    }

    private void verifyLimit(String user, int limit) {
        Await.until(
                user + " has the limit " + limit,
                TIMEOUT,
                () -> LimitResponse.field(
                                get("tiers-from-a-database", "hello", "Authorization", basic(user, "secret")),
                                "RateLimit-Policy")
                        .equals("\"api\";q=" + limit + ";w=60"));
    }

    @Test
    default void exemptHealthChecks() {
        String page = "exempt-health-checks";
        LimitResponse.verifyNoQuota(get(page, "health"));
        assertThat(HowToCalls.remaining(get(page, "health/deep"), "api")).isEqualTo(99);
        assertThat(HowToCalls.remaining(get(page, "hello"), "api")).isEqualTo(98);

        String token = "8f14e45fceea167a5a36dedd4bea2543";
        String commands =
                HowToPage.of(page).commands("Exempt callers").get(0).replace("$(openssl rand -hex 32)", token);
        assertThat(server().run(page, commands).lines())
                .containsExactly("403dd45c5e49532f648e756d9178b73467a741444a321d2e0755ebde19ac8523", "Hello");
        LimitResponse.verifyNoQuota(get(page, "hello", "X-RateLimit-Bypass", token));
    }

    @Test
    default void migrateFromSmallrye() {
        List<String> bodies = IntStream.range(0, 60)
                .mapToObj(call -> get("migrate-from-smallrye", "search").body())
                .toList();
        assertThat(bodies).containsOnly("[a hit for weir]", "[]");
        assertThat(bodies.stream().filter("[]"::equals))
                .as("50 calls per minute, then the fallback")
                .hasSizeGreaterThanOrEqualTo(10);
    }

    @Test
    default void paceOutboundCalls() {
        URI later = server().uri("pace-outbound-calls", "api/partner/later");
        long start = System.nanoTime();
        List<CompletableFuture<HttpResponse<String>>> calls =
                IntStream.range(0, 8).mapToObj(call -> Http.getAsync(later)).toList();
        assertThat(calls).allSatisfy(call -> assertThat(call.join().body()).isEqualTo("offer for books"));
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("one call per 100 ms")
                .isGreaterThanOrEqualTo(Duration.ofMillis(700));
        for (String path : List.of("limited", "retried")) {
            assertThat(get("pace-outbound-calls", "partner/" + path).body()).isEqualTo("offer for books");
        }
    }

    static String basic(String user, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes());
    }
}
