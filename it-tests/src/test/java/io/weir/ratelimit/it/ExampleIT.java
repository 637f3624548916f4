// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.TextStyle;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
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
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

/** The example with the local backend. Each test uses a different policy. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@Tag("smoke")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class ExampleIT {
    private static final Duration NOTICE_WITHIN = Duration.ofSeconds(20);

    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static WebArchive example() {
        return TestWar.example();
    }

    @Test
    void helloHasConsistentHeaderDialects() {
        for (int spent = 1; spent <= 5; spent++) {
            HttpResponse<String> response = get("api/hello");

            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.body()).isEqualTo("Hello\n");
            assertThat(LimitResponse.field(response, "RateLimit-Policy")).isEqualTo("\"hello\";q=5;w=10");
            assertThat(LimitResponse.policy(response)).isEqualTo("hello");
            assertThat(LimitResponse.remaining(response)).isEqualTo(5 - spent);
            // Permits of the current window return during the next one, at the earliest after ten seconds.
            assertThat(LimitResponse.seconds(response)).isBetween(1L, 20L);
            verifyOldDialects(response, 5 - spent);
            assertThat(response.headers().firstValue("Retry-After")).isEmpty();
        }
        HttpResponse<String> rejected = get("api/hello");

        long wait = LimitResponse.verifyRejected(rejected, "hello");
        assertThat(wait).isBetween(9L, 20L);
        assertThat(LimitResponse.field(rejected, "RateLimit-Policy")).isEqualTo("\"hello\";q=5;w=10");
        assertThat(LimitResponse.remaining(rejected)).isZero();
        verifyOldDialects(rejected, 0);
    }

    /** Verifies the older header dialects. The reset is the time until the whole quota is available; the epoch is that of Date. */
    private static void verifyOldDialects(HttpResponse<String> response, long remaining) {
        long reset = LimitResponse.number(response, "RateLimit-Reset");
        assertThat(LimitResponse.number(response, "RateLimit-Limit")).isEqualTo(5);
        assertThat(LimitResponse.number(response, "RateLimit-Remaining")).isEqualTo(remaining);
        assertThat(reset).isBetween(LimitResponse.seconds(response), 20L);
        assertThat(LimitResponse.number(response, "X-RateLimit-Limit")).isEqualTo(5);
        assertThat(LimitResponse.number(response, "X-RateLimit-Remaining")).isEqualTo(remaining);
        assertThat(LimitResponse.number(response, "X-RateLimit-Reset"))
                .isCloseTo(LimitResponse.date(response) + reset, Offset.offset(1L));
    }

    @Test
    void searchAndExportShareOnePolicy() {
        assertThat(remainingOf("api/export")).isEqualTo(950);
        assertThat(remainingOf("api/search?q=we")).isEqualTo(940);
        assertThat(get("api/search?q=WE").body()).contains("\"matches\":[\"weir\"]");
        assertThat(Http.statuses(18, uri("api/export"))).containsOnly(200);
        assertThat(remainingOf("api/search")).isEqualTo(20);

        // The cost is 50 and 20 permits remain, so the call is rejected and spends nothing.
        LimitResponse.verifyRejected(get("api/export"), "compute");

        assertThat(remainingOf("api/search")).isEqualTo(10);
        assertThat(remainingOf("api/search")).isZero();
        LimitResponse.verifyRejected(get("api/search"), "compute");
    }

    @Test
    void burstIsAllowedAndRetryAfterIsSufficient() throws Exception {
        long start = System.nanoTime();
        List<HttpResponse<String>> burst =
                Stream.generate(() -> get("api/bursty")).limit(20).toList();
        HttpResponse<String> next = get("api/bursty");
        // Ten permits per second return in the meantime.
        int max = 20 + 1 + (int) (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) / 100);
        assertThat(burst).extracting(HttpResponse::statusCode).containsOnly(200);
        for (int allowed = 21; next.statusCode() == 200; allowed++) {
            assertThat(allowed).isLessThanOrEqualTo(max);
            next = get("api/bursty");
            max = 20 + 1 + (int) (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) / 100);
        }

        assertThat(LimitResponse.field(next, "RateLimit-Policy")).isEqualTo("\"bursty\";q=10;w=1");
        long seconds = LimitResponse.verifyRejected(next, "bursty");
        assertThat(seconds).isEqualTo(1);
        TimeUnit.SECONDS.sleep(seconds);
        assertThat(get("api/bursty").statusCode()).isEqualTo(200);
    }

    @Test
    void beanOfAnUnannotatedResourceHasTheSameResponse() {
        assertThat(remainingOf("api/report")).isEqualTo(2);
        assertThat(get("api/report").body()).contains("Water levels");
        assertThat(remainingOf("api/report")).isZero();

        HttpResponse<String> rejected = get("api/report");

        LimitResponse.verifyRejected(rejected, "ReportService.report");
        assertThat(LimitResponse.field(rejected, "RateLimit-Policy")).isEqualTo("\"ReportService.report\";q=3;w=10");
        assertThat(LimitResponse.number(rejected, "X-RateLimit-Remaining")).isZero();
    }

    @Test
    void ordersChargeUserTeamAndOrganization() {
        HttpResponse<String> response = get("api/orgs/acme/teams/sales/users/ann/orders");
        assertThat(response.body()).contains("\"user\":\"ann\"");
        assertThat(LimitResponse.field(response, "RateLimit-Policy"))
                .isEqualTo("\"org\";q=10000;w=60, \"team\";q=2000;w=60, \"user\";q=500;w=60");
        assertThat(LimitResponse.policy(response)).isEqualTo("user");
        assertThat(LimitResponse.remaining(response)).isEqualTo(499);
        assertThat(remainingOf("api/orgs/acme/teams/sales/users/ben/orders")).isEqualTo(499);
        assertThat(remainingOf("api/orgs/acme/teams/support/users/ann/orders"))
                .as("a user with the same name in another team")
                .isEqualTo(499);
    }

    @Test
    void planDeterminesTheLimitAndKeepsTheState() {
        String[] policies = {"free", "basic", "premium", "unknown"};
        long[] permits = {60, 1_000, 10_000, 60};
        for (int i = 0; i < policies.length; i++) {
            HttpResponse<String> response = Http.get(uri("api/plans/me"), "X-Plan", policies[i]);
            assertThat(response.body()).isEqualTo("{\"name\":\"" + policies[i] + "\"}");
            assertThat(LimitResponse.field(response, "RateLimit-Policy"))
                    .isEqualTo("\"plan\";q=" + permits[i] + ";w=60");
            assertThat(LimitResponse.remaining(response)).isEqualTo(permits[i] - i - 1);
        }
    }

    @Test
    void monthlyQuotaEndsWithTheMonth() {
        for (int spent = 1; spent <= 3; spent++) {
            HttpResponse<String> response = Http.get(uri("api/monthly"), "X-Customer", "acme");
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(LimitResponse.remaining(response)).isEqualTo(3 - spent);
            assertThat(LimitResponse.field(response, "RateLimit-Policy"))
                    .matches("\"monthly\";q=3;w=(2419200|2505600|2592000|2678400)");
        }
        HttpResponse<String> rejected = Http.get(uri("api/monthly"), "X-Customer", "acme");

        ZonedDateTime now =
                ZonedDateTime.ofInstant(Instant.ofEpochSecond(LimitResponse.date(rejected)), ZoneOffset.UTC);
        ZonedDateTime end = now.truncatedTo(ChronoUnit.DAYS).withDayOfMonth(1).plusMonths(1);
        String month = end.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
        long wait = LimitResponse.verifyRejectedUntil("1 " + month + " 00:00 UTC", rejected, "monthly");
        assertThat(wait).isCloseTo(now.until(end, ChronoUnit.SECONDS), Offset.offset(2L));
        assertThat(Http.get(uri("api/monthly"), "X-Customer", "other").statusCode())
                .isEqualTo(200);
    }

    @Test
    void customerIsNotifiedOncePerUsedShare() {
        String[] customer = {"X-Customer", "notified"};
        URI notices = uri("api/monthly/notices");
        assertThat(Http.statuses(1, uri("api/monthly"), customer)).containsOnly(200);
        assertThat(Http.get(notices, customer).body()).isEmpty();
        assertThat(Http.statuses(1, uri("api/monthly"), customer)).containsOnly(200);
        String half = "You have used 50 % of 3 calls\n";
        Await.until(
                "the first notice",
                NOTICE_WITHIN,
                () -> Http.get(notices, customer).body().equals(half));
        assertThat(Http.statuses(3, uri("api/monthly"), customer)).containsExactly(200, 429, 429);
        Await.until(
                "the second notice",
                NOTICE_WITHIN,
                () -> Http.get(notices, customer).body().equals(half + "You have used 100 % of 3 calls\n"));
    }

    @Test
    void twoSlowCallsRunAtOnce() {
        // A thread for each call: the common pool has one thread less than the machine has cores.
        Executor threads = task -> new Thread(task).start();
        List<HttpResponse<String>> responses = Stream.generate(
                        () -> CompletableFuture.supplyAsync(() -> Http.get(uri("api/slow?ms=5000")), threads))
                .limit(3)
                .toList()
                .stream()
                .map(CompletableFuture::join)
                .toList();
        assertThat(responses).extracting(HttpResponse::statusCode).containsExactlyInAnyOrder(200, 200, 429);
        assertThat(responses)
                .allSatisfy(response -> assertThat(LimitResponse.field(response, "RateLimit-Policy"))
                        .isEqualTo("\"slow\";q=2;qu=\"concurrent-requests\""));
    }

    @Test
    @DisabledIfSystemProperty(
            named = "arquillian.launch",
            matches = "glassfish",
            disabledReason = "without MicroProfile REST Client")
    void callsOfThePartnerAreLimited() {
        for (int call = 0; call < 3; call++) {
            HttpResponse<String> offer = get("api/offers/books");
            assertThat(offer.statusCode()).as(offer.body()).isEqualTo(200);
            assertThat(offer.body()).isEqualTo("An offer for books\n");
        }
        HttpResponse<String> rejected = get("api/offers/books");
        assertThat(rejected.statusCode()).isEqualTo(503);
        assertThat(rejected.body()).isEqualTo("No offer now\n");
        assertThat(LimitResponse.number(rejected, "Retry-After")).isBetween(1L, 20L);
        assertThat(get("api/partner/offers/books").statusCode())
                .as("a call that is not from the client")
                .isEqualTo(200);
    }

    @Test
    void quotaSpendsNoPermits() {
        HttpResponse<String> first = get("api/quota");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.body())
                .matches("\\[\\{\"limit\":\"hello\",\"permits\":5,\"remaining\":[0-5],"
                        + "\"resetAfterMillis\":\\d+,\"windowSeconds\":10}]");
        LimitResponse.verifyNoQuota(first);
        assertThat(Http.statuses(10, uri("api/quota"))).containsOnly(200);
        assertThat(remainingIn(get("api/quota"))).isGreaterThanOrEqualTo(remainingIn(first));
    }

    @Test
    void quotaResourceShowsTheQuotasOfTheCaller() {
        HttpResponse<String> response = Http.get(uri("rate-limits"), "X-Plan", "basic", "Accept", "text/html");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.field(response, "Content-Type")).startsWith("application/json");
        assertThat(LimitResponse.field(response, "Cache-Control")).isEqualTo("no-store");
        LimitResponse.verifyNoQuota(response);
        assertThat(response.body())
                .startsWith("{\"policies\":[{\"name\":\"ReportService.report\",")
                .containsPattern(
                        "\\{\"name\":\"bursty\",\"limits\":\\[\\{\"name\":\"bursty\",\"permits\":10,\"window\":1,"
                                + "\"unit\":\"requests\",\"capacity\":20,\"remaining\":\\d+,\"reset\":\\d+}]}")
                .containsPattern("\"name\":\"hello\",\"permits\":5,\"window\":10,\"unit\":\"requests\",\"capacity\":5,"
                        + "\"remaining\":[0-5],")
                .contains("\"name\":\"plan\",\"permits\":1000,\"window\":60")
                .as("minimal disclosure, shadow mode, and keys of a resource")
                .doesNotContain("\"login", "\"quota-reads\"", "\"org\"", "\"team\"", "\"user\"");
        assertThat(Http.get(uri("rate-limits/")))
                .extracting(HttpResponse::statusCode)
                .isEqualTo(404);

        String spent =
                get("rate-limits").body().replaceAll("(?s).*\"hello\",\"permits\".*?\"remaining\":(\\d+).*", "$1");
        for (int read = 0; read < 5; read++) {
            assertThat(get("rate-limits").statusCode()).isEqualTo(200);
        }
        assertThat(Long.parseLong(get("rate-limits")
                        .body()
                        .replaceAll("(?s).*\"hello\",\"permits\".*?\"remaining\":(\\d+).*", "$1")))
                .isGreaterThanOrEqualTo(Long.parseLong(spent));
    }

    private static long remainingIn(HttpResponse<String> quota) {
        return Long.parseLong(quota.body().replaceAll(".*\"remaining\":(\\d+).*", "$1"));
    }

    @Test
    void loginDisclosesNoLimitsAndIsRejectedAfterFiveAttempts() {
        for (int i = 0; i < 5; i++) {
            HttpResponse<String> response = login(i == 2 ? "secret" : "wrong");
            assertThat(response.statusCode()).isEqualTo(i == 2 ? 200 : 401);
            LimitResponse.verifyNoQuota(response);
        }
        HttpResponse<String> rejected = login("secret");
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(LimitResponse.number(rejected, "Retry-After")).isPositive();
        assertThat(rejected.body())
                .contains("\"detail\":\"There were too many requests.\"")
                .doesNotContain("login");
        LimitResponse.verifyNoQuota(rejected);
    }

    private HttpResponse<String> login(String password) {
        return Http.post(uri("api/login"), "application/x-www-form-urlencoded", "username=ann&password=" + password);
    }

    @Test
    void completionReservesWordsAndSettlesTheActualNumber() {
        HttpResponse<String> first = complete(120, 1000);
        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(first.body()).isEqualTo("{\"used\":120}");
        assertThat(complete(0, 881).statusCode())
                .as("more than the remaining 880")
                .isEqualTo(429);
        assertThat(complete(1100, 880).body()).isEqualTo("{\"used\":1100}");
        HttpResponse<String> inDebt = complete(1, 1);
        assertThat(inDebt.statusCode()).isEqualTo(429);
        assertThat(inDebt.body()).contains("\"violated-policies\":[\"words\"]");
        assertThat(complete(-1, 1).statusCode()).isEqualTo(400);
        assertThat(complete(1, 0).statusCode()).isEqualTo(400);
    }

    private HttpResponse<String> complete(long words, long max) {
        String form = "words=" + words + "&max=" + max;
        return Http.post(
                uri("api/complete"), "application/x-www-form-urlencoded", form, "X-Api-Key", "key of a completion");
    }

    @Test
    void earlyPolicyLimitsRequestsForPathsThatDoNotExist() {
        assertThat(Http.statuses(30, uri("api/admin/users"))).containsOnly(404);
        LimitResponse.verifyRejected(get("api/admin/backup.zip"), "probes");
    }

    @Test
    void healthIsNeverLimited() {
        assertThat(Http.statuses(50, uri("api/health"))).containsOnly(200);
        HttpResponse<String> response = get("api/health");
        assertThat(response.body()).isEqualTo("{\"status\":\"UP\"}");
        LimitResponse.verifyNoQuota(response);
    }

    private long remainingOf(String path) {
        HttpResponse<String> response = get(path);
        assertThat(response.statusCode()).isEqualTo(200);
        return LimitResponse.remaining(response);
    }

    private HttpResponse<String> get(String path) {
        return Http.get(uri(path));
    }

    private URI uri(String path) {
        return Http.loopback(base).resolve(path);
    }
}
