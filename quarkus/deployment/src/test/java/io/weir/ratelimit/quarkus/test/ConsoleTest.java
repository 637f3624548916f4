// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The console and the quota resource, which Quarkus authenticates only when they ask for it. */
class ConsoleTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resources.class))
            .overrideConfigKey("quarkus.http.auth.basic", "true")
            .overrideConfigKey("quarkus.http.auth.proactive", "false")
            .overrideConfigKey("quarkus.security.users.embedded.enabled", "true")
            .overrideConfigKey("quarkus.security.users.embedded.plain-text", "true")
            .overrideConfigKey("quarkus.security.users.embedded.users.ann", "secret")
            .overrideConfigKey("quarkus.security.users.embedded.users.ben", "secret")
            .overrideConfigKey("quarkus.security.users.embedded.roles.ann", "operator")
            .overrideConfigKey("quarkus.security.users.embedded.roles.ben", "user")
            .overrideConfigKey("ratelimit.console.enabled", "true")
            .overrideConfigKey("ratelimit.console.role", "operator")
            .overrideConfigKey("ratelimit.quota.path", "/quotas")
            .overrideConfigKey("ratelimit.trusted-proxies", "127.0.0.1")
            .overrideConfigKey("ratelimit.policies.hello.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.hello.key", "principal | header:X-Client");

    @TestHTTPResource
    URI base;

    @Inject
    RateLimiter limiter;

    private HttpResponse<String> as(String user, String path) {
        return new Client(base).get(path, "Authorization", basic(user, "secret"));
    }

    private static String basic(String user, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    private HttpResponse<String> send(String path, String method, String body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(base.resolve("/q/ratelimit" + path))
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .header("Authorization", basic("ann", "secret"))
                .headers(headers)
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void anOperatorSeesThePage() {
        HttpResponse<String> page = as("ann", "q/ratelimit/");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("console.js");
        assertThat(page.headers().firstValue("Content-Security-Policy")).isPresent();
        assertThat(as("ann", "q/ratelimit/console.js").body()).contains("./common.js");
        HttpResponse<String> moved = as("ann", "q/ratelimit");
        assertThat(moved.statusCode()).isEqualTo(302);
        assertThat(moved.headers().firstValue("Location")).hasValue("ratelimit/");
        assertThat(as("ann", "q/ratelimit/api/v1/policies").body()).contains("\"hello\"");
        assertThat(as("ann", "q/ratelimit/other").body()).isEqualTo("{\"message\":\"This path does not exist.\"}");
    }

    @Test
    void othersDoNot() {
        HttpResponse<String> anonymous = new Client(base).get("q/ratelimit/");
        assertThat(anonymous.statusCode()).isEqualTo(401);
        assertThat(anonymous.headers().firstValue("WWW-Authenticate").orElse(""))
                .containsIgnoringCase("basic");
        HttpResponse<String> other = as("ben", "q/ratelimit/api/v1/policies");
        assertThat(other.statusCode()).isEqualTo(403);
        assertThat(other.body())
                .isEqualTo(
                        "{\"message\":\"This requires the role of ratelimit.console.role, which you do not have.\"}");
    }

    @Test
    void anOperatorResetsAKey() throws Exception {
        Client client = new Client(base);
        assertThat(client.get("hello").statusCode()).isEqualTo(200);
        assertThat(client.get("hello").statusCode()).isEqualTo(429);
        String body = "{\"policy\":\"hello\",\"alternative\":\"1\",\"values\":[\"" + client.name + "\"]}";
        HttpResponse<String> foreign = send("/api/v1/callers/reset", "POST", body, "Sec-Fetch-Site", "cross-site");
        assertThat(foreign.statusCode()).isEqualTo(403);
        HttpResponse<String> reset = send(
                "/api/v1/callers/reset",
                "POST",
                body,
                "Sec-Fetch-Site",
                "same-origin",
                "Content-Type",
                "application/json");
        assertThat(reset.statusCode()).as(reset.body()).isEqualTo(200);
        assertThat(client.get("hello").statusCode()).isEqualTo(200);
    }

    @Test
    void aLongBodyIsRejected() throws Exception {
        HttpResponse<String> answer = send(
                "/api/v1/callers/reset",
                "POST",
                " ".repeat(200_000),
                "Sec-Fetch-Site",
                "same-origin",
                "Content-Type",
                "application/json");
        assertThat(answer.statusCode()).isEqualTo(413);
        assertThat(answer.body()).contains("more than 8192 bytes");
        assertThat(send("/", "DELETE", "", "X-Test", "1").statusCode()).isEqualTo(405);
        HttpResponse<String> head = send("/", "HEAD", "", "X-Test", "1");
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValueAsLong("Content-Length").orElse(0)).isPositive();
    }

    @Test
    void aCallerReadsItsQuotas() {
        Client client = new Client(base);
        assertThat(client.get("quotas").body()).contains("\"name\":\"hello\"", "\"remaining\":1");
        assertThat(client.get("hello").statusCode()).isEqualTo(200);
        HttpResponse<String> quotas = client.get("quotas");
        assertThat(quotas.body()).contains("\"remaining\":0");
        assertThat(quotas.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(as("ben", "quotas").body()).contains("\"remaining\":1");
        limiter.acquire("hello", Identity.principal("ben"));
        assertThat(as("ben", "quotas").body()).contains("\"remaining\":0");
    }

    @Test
    void theQuotaResourceIsNoPlaceToGuessPasswords() {
        Client client = new Client(base);
        for (int attempt = 0; attempt < 20; attempt++) {
            HttpResponse<String> answer =
                    client.get("quotas", "Authorization", basic("ann", "wrong"), "X-Forwarded-For", "192.0.2.1");
            if (answer.statusCode() == 429) {
                assertThat(answer.headers().firstValue("Retry-After")).isPresent();
                assertThat(attempt).isPositive();
                return;
            }
            assertThat(answer.statusCode()).isEqualTo(401);
        }
        throw new AssertionError("no login was rejected");
    }

    @Path("hello")
    public static class Resources {
        @GET
        @RateLimit("hello")
        public String hello() {
            return "Hello";
        }
    }
}
