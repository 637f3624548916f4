// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URL;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The example as it is: limits in process, each test on a policy of its own. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
class ExampleIT {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static WebArchive example() {
        return TestWar.example();
    }

    @Test
    void helloIsLimitedAndEveryDialectAgrees() {
        for (int spent = 1; spent <= 5; spent++) {
            HttpResponse<String> response = get("api/hello");

            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.body()).isEqualTo("Hello\n");
            assertThat(Refusal.field(response, "RateLimit-Policy")).isEqualTo("\"hello\";q=5;w=10");
            assertThat(Refusal.policy(response)).isEqualTo("hello");
            assertThat(Refusal.remaining(response)).isEqualTo(5 - spent);
            // Permits of the current window come back from the next one on, at the earliest after ten seconds.
            assertThat(Refusal.seconds(response)).isBetween(1L, 20L);
            verifyOldDialects(response, 5 - spent);
            assertThat(response.headers().firstValue("Retry-After")).isEmpty();
        }
        HttpResponse<String> refused = get("api/hello");

        long wait = Refusal.verify(refused, "hello");
        assertThat(wait).isBetween(9L, 20L);
        assertThat(Refusal.field(refused, "RateLimit-Policy")).isEqualTo("\"hello\";q=5;w=10");
        assertThat(Refusal.remaining(refused)).isZero();
        verifyOldDialects(refused, 0);
    }

    /** Reset is when the quota is whole again, so no earlier than one call is let in; the epoch is the one of Date. */
    private static void verifyOldDialects(HttpResponse<String> response, long remaining) {
        long reset = Refusal.number(response, "RateLimit-Reset");
        assertThat(Refusal.number(response, "RateLimit-Limit")).isEqualTo(5);
        assertThat(Refusal.number(response, "RateLimit-Remaining")).isEqualTo(remaining);
        assertThat(reset).isBetween(Refusal.seconds(response), 20L);
        assertThat(Refusal.number(response, "X-RateLimit-Limit")).isEqualTo(5);
        assertThat(Refusal.number(response, "X-RateLimit-Remaining")).isEqualTo(remaining);
        assertThat(Refusal.number(response, "X-RateLimit-Reset"))
                .isCloseTo(Refusal.date(response) + reset, Offset.offset(1L));
    }

    @Test
    void searchAndExportSpendFromOneBudget() {
        assertThat(remainingOf("api/export")).isEqualTo(950);
        assertThat(remainingOf("api/search?q=we")).isEqualTo(940);
        assertThat(get("api/search?q=WE").body()).contains("\"matches\":[\"weir\"]");
        assertThat(Http.statuses(18, uri("api/export"))).containsOnly(200);
        assertThat(remainingOf("api/search")).isEqualTo(20);

        // Forty are asked for, twenty are left: refused, and nothing is spent.
        Refusal.verify(get("api/export"), "compute");

        assertThat(remainingOf("api/search")).isEqualTo(10);
        assertThat(remainingOf("api/search")).isZero();
        Refusal.verify(get("api/search"), "compute");
    }

    @Test
    void aBurstIsTakenAndAClientThatWaitsIsLetIn() throws Exception {
        long start = System.nanoTime();
        List<HttpResponse<String>> burst =
                Stream.generate(() -> get("api/bursty")).limit(20).toList();
        HttpResponse<String> next = get("api/bursty");
        // Ten permits per second come back meanwhile.
        int most = 20 + 1 + (int) (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) / 100);
        assertThat(burst).extracting(HttpResponse::statusCode).containsOnly(200);
        for (int admitted = 21; next.statusCode() == 200; admitted++) {
            assertThat(admitted).isLessThanOrEqualTo(most);
            next = get("api/bursty");
            most = 20 + 1 + (int) (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) / 100);
        }

        assertThat(Refusal.field(next, "RateLimit-Policy")).isEqualTo("\"bursty\";q=10;w=1");
        long seconds = Refusal.verify(next, "bursty");
        assertThat(seconds).isEqualTo(1);
        TimeUnit.SECONDS.sleep(seconds);
        assertThat(get("api/bursty").statusCode()).isEqualTo(200);
    }

    @Test
    void aBeanBelowAnUnannotatedResourceAnswersTheSame() {
        assertThat(remainingOf("api/report")).isEqualTo(2);
        assertThat(get("api/report").body()).contains("Water levels");
        assertThat(remainingOf("api/report")).isZero();

        HttpResponse<String> refused = get("api/report");

        Refusal.verify(refused, "ReportService.report");
        assertThat(Refusal.field(refused, "RateLimit-Policy")).isEqualTo("\"ReportService.report\";q=3;w=10");
        assertThat(Refusal.number(refused, "X-RateLimit-Remaining")).isZero();
    }

    @Test
    void ordersCountForTheUserTheTeamAndTheOrganisation() {
        HttpResponse<String> response = get("api/orgs/acme/teams/sales/users/ann/orders");
        assertThat(response.body()).contains("\"user\":\"ann\"");
        assertThat(Refusal.field(response, "RateLimit-Policy"))
                .isEqualTo("\"org\";q=10000;w=60, \"team\";q=2000;w=60, \"user\";q=500;w=60");
        assertThat(Refusal.policy(response)).isEqualTo("user");
        assertThat(Refusal.remaining(response)).isEqualTo(499);
        assertThat(remainingOf("api/orgs/acme/teams/sales/users/ben/orders")).isEqualTo(499);
        assertThat(remainingOf("api/orgs/acme/teams/support/users/ann/orders"))
                .as("a namesake in another team")
                .isEqualTo(499);
    }

    @Test
    void aPlanDecidesTheLimitAndKeepsWhatWasCounted() {
        String[] policies = {"free", "basic", "premium", "unheard-of"};
        long[] permits = {60, 1_000, 10_000, 60};
        for (int i = 0; i < policies.length; i++) {
            HttpResponse<String> response = Http.get(uri("api/plans/me"), "X-Plan", policies[i]);
            assertThat(response.body()).isEqualTo("{\"name\":\"" + policies[i] + "\"}");
            assertThat(Refusal.field(response, "RateLimit-Policy")).isEqualTo("\"plan\";q=" + permits[i] + ";w=60");
            assertThat(Refusal.remaining(response)).isEqualTo(permits[i] - i - 1);
        }
    }

    @Test
    void aClientAsksForItsQuotaAndSpendsNothing() {
        HttpResponse<String> first = get("api/quota");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.body())
                .matches("\\[\\{\"limit\":\"hello\",\"permits\":5,\"remaining\":[0-5],"
                        + "\"resetAfterMillis\":\\d+,\"windowSeconds\":10}]");
        Refusal.verifyNoQuota(first);
        assertThat(Http.statuses(10, uri("api/quota"))).containsOnly(200);
        assertThat(left(get("api/quota"))).isGreaterThanOrEqualTo(left(first));
    }

    private static long left(HttpResponse<String> quota) {
        return Long.parseLong(quota.body().replaceAll(".*\"remaining\":(\\d+).*", "$1"));
    }

    @Test
    void aLoginIsAnsweredWithoutAWordOfLimitsAndRefusedAfterFiveTries() {
        for (int i = 0; i < 5; i++) {
            HttpResponse<String> response = login(i == 2 ? "secret" : "wrong");
            assertThat(response.statusCode()).isEqualTo(i == 2 ? 200 : 401);
            Refusal.verifyNoQuota(response);
        }
        HttpResponse<String> refused = login("secret");
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(Refusal.number(refused, "Retry-After")).isPositive();
        assertThat(refused.body())
                .contains("\"detail\":\"There were too many requests.\"")
                .doesNotContain("login");
        Refusal.verifyNoQuota(refused);
    }

    private HttpResponse<String> login(String password) {
        return Http.post(uri("api/login"), "application/x-www-form-urlencoded", "username=ann&password=" + password);
    }

    @Test
    void healthIsNeverLimited() {
        assertThat(Http.statuses(50, uri("api/health"))).containsOnly(200);
        HttpResponse<String> response = get("api/health");
        assertThat(response.body()).isEqualTo("{\"status\":\"UP\"}");
        Refusal.verifyNoQuota(response);
    }

    private long remainingOf(String path) {
        HttpResponse<String> response = get(path);
        assertThat(response.statusCode()).isEqualTo(200);
        return Refusal.remaining(response);
    }

    private HttpResponse<String> get(String path) {
        return Http.get(uri(path));
    }

    private URI uri(String path) {
        return Http.loopback(base).resolve(path);
    }
}
