// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.StringReader;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** The pages about the operation of an application, and about its server. */
interface HowToOperations extends HowToCalls {
    @Test
    default void openLiberty() {
        assertThat(HowToCalls.remaining(get("open-liberty", "hello"), "hello")).isEqualTo(99);
        assertThat(isLogged("WEIR-001 Rate limits are enabled. Backend: local")).isTrue();
        assertThat(server().scrape().sum("ratelimit_decisions_total", "policy=\"hello\"", "outcome=\"allowed\""))
                .as("metrics without a login")
                .isPositive();
        assertThat(Http.get(server().root().resolve("health")).body()).contains("\"ratelimit\"");
    }

    @Test
    default void shadowMode() {
        String page = "shadow-mode";
        for (int call = 0; call < 4; call++) {
            HttpResponse<String> response = get(page, "hello");
            assertThat(response.statusCode()).isEqualTo(200);
            LimitResponse.verifyNoQuota(response);
        }
        assertThat(server().scrape().sum("ratelimit_decisions_total", "policy=\"api\"", "outcome=\"shadow_rejected\""))
                .isEqualTo(2);

        String[] enforced = HowToPage.of(page)
                .snippet("5. Enforce it", "properties")
                .strip()
                .split("=");
        server().dropIn("mode.xml", "<server><variable name=\"%s\" value=\"%s\"/></server>".formatted((Object[])
                        enforced));
        Await.until("the policy is enforced", TIMEOUT, () -> get(page, "hello").statusCode() == 429);
        server().removeDropIn("mode.xml");
    }

    /** The last test, because its file also changes other applications. */
    @Test
    @Order(Integer.MAX_VALUE)
    default void reload() {
        assertThat(LimitResponse.field(get("reload", "hello"), "RateLimit-Policy"))
                .isEqualTo("\"hello\";q=5;w=10");
        server().dropIn("limits.xml", HowToPage.of("reload").snippet("Change a limit on Open Liberty", "xml"));
        Await.until(
                "the limit is changed",
                TIMEOUT,
                () -> LimitResponse.field(get("reload", "hello"), "RateLimit-Policy")
                        .equals("\"hello\";q=50;w=10"));
        assertThat(
                        isLogged(
                                "WEIR-314 The configuration was reloaded: changed policies [hello (limit from 5/10s to 50/10s)]."))
                .isTrue();
        server().removeDropIn("limits.xml");
    }

    @Test
    default void findTopKeys() {
        String page = "find-top-keys";
        String alice = HowToLimits.basic("alice", "secret");
        assertThat(statuses(3, page, "hello", "Authorization", alice)).containsExactly(200, 200, 429);
        String key = post(page, "support").body();
        assertThat(key).startsWith("p.~").doesNotContain("alice");
        assertThat(isLogged(key + ": 1 to 1 rejections in ")).isTrue();

        String query = "support?key=" + URLEncoder.encode(key, StandardCharsets.UTF_8);
        assertThat(get(page, query).body()).isEqualTo("0");
        assertThat(post(page, query).statusCode()).isEqualTo(200);
        assertThat(get(page, query).body()).isEqualTo("2");
        assertThat(get(page, "hello", "Authorization", alice).statusCode()).isEqualTo(200);
    }

    @Test
    default void quotaNotifications() {
        String page = "quota-notifications";
        assertThat(test(page, 0)).isEqualTo("200\n200\n200\n200\n200\n429\n");
        Await.until(
                "two mails", TIMEOUT, () -> get(page, "mails").body().lines().count() == 2);
        assertThat(get(page, "mails").body().lines())
                .allMatch(mail -> mail.startsWith("acme: "))
                .map(mail -> mail.replaceAll(" Your calls return on [0-9]+ [A-Z][a-z]+ 20[0-9]{2}\\.", ""))
                .containsExactlyInAnyOrder(
                        "acme: You have used 80 % of 5 calls.", "acme: You have used 100 % of 5 calls.");
    }

    @Test
    default void penalties() {
        String page = "penalties";
        assertThat(statuses(7, page, "hello")).containsExactly(200, 200, 429, 429, 429, 429, 429);
        Await.until("the penalty", TIMEOUT, () -> !get(page, "support").body().isEmpty());
        String[] penalty = get(page, "support").body().split(" ", -1);
        assertThat(penalty[1]).isEqualTo("api");
        assertThat(penalty[2]).isEqualTo("15");
        HttpResponse<String> blocked = get(page, "hello");
        assertThat(blocked.statusCode()).isEqualTo(429);
        assertThat(LimitResponse.number(blocked, "Retry-After")).isBetween(5_000L, 5_400L);
        assertThat(blocked.body()).contains("#abnormal-usage-detected", "\"error\":\"rate_limit_blocked\"");

        String query = "support?key=" + URLEncoder.encode(penalty[0], StandardCharsets.UTF_8);
        assertThat(get(page, query).body()).isEqualTo("14");
        assertThat(Http.delete(server().uri(page, "api/" + query)).statusCode()).isEqualTo(200);
        assertThat(get(page, "hello").body()).contains("#quota-exceeded");
        assertThat(post(page, query).statusCode()).isEqualTo(200);
        assertThat(get(page, "hello").body()).contains("#abnormal-usage-detected");
        assertThat(server().scrape().sum("ratelimit_penalties_total", "policy=\"api\""))
                .isEqualTo(1);
    }

    @Test
    default void replaceTheResponse() {
        assertThat(get("replace-the-response", "hello").statusCode()).isEqualTo(200);
        HttpResponse<String> mapped = get("replace-the-response", "hello");
        assertThat(mapped.statusCode()).isEqualTo(429);
        assertThat(mapped.body()).isEqualTo("Slow down.");
        assertThat(LimitResponse.number(mapped, "Retry-After")).isPositive();

        assertThat(get("replace-the-body", "hello").statusCode()).isEqualTo(200);
        HttpResponse<String> replaced = get("replace-the-body", "hello");
        assertThat(replaced.statusCode()).isEqualTo(429);
        assertThat(replaced.body()).isEqualTo("{\"code\":\"SLOW_DOWN\"}");
        assertThat(LimitResponse.field(replaced, "Content-Type")).isEqualTo("application/vnd.shop.error+json");
        assertThat(LimitResponse.number(replaced, "Retry-After")).isPositive();
    }

    @Test
    default void openapi() {
        String document =
                Http.get(server().root().resolve("openapi?format=JSON")).body();
        JsonObject json = Json.createReader(new StringReader(document)).readObject();
        JsonObject operation = json.getJsonObject("paths").entrySet().stream()
                .filter(path -> path.getKey().endsWith("/api/hello"))
                .map(path -> path.getValue().asJsonObject().getJsonObject("get"))
                .findFirst()
                .orElseThrow(() -> new AssertionError(document));
        JsonObject response = operation.getJsonObject("responses").getJsonObject("429");
        assertThat(response.getJsonObject("headers")).containsKeys("Retry-After", "RateLimit");
        assertThat(response.getJsonObject("content")).containsKey("application/problem+json");
        assertThat(operation.getJsonObject("responses")).containsKey("503");
        assertThat(json.getJsonObject("components").getJsonObject("schemas")).containsKey("RateLimitProblem");
    }
}
