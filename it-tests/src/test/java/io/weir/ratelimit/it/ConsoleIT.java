// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import jakarta.json.JsonArray;
import jakarta.json.JsonObject;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The console of the example, which is open to everyone. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class ConsoleIT {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static WebArchive example() {
        return TestWar.exampleWith("ratelimit.policies.hello.limit=5/1h");
    }

    private ConsolePage page() {
        return new ConsolePage(Http.loopback(base));
    }

    @Test
    void servesThePageBelowTheContextRoot() throws Exception {
        HttpURLConnection connection = (HttpURLConnection)
                Http.loopback(base).resolve("ratelimit").toURL().openConnection();
        connection.setInstanceFollowRedirects(false);
        assertThat(connection.getResponseCode()).isEqualTo(302);
        assertThat(connection.getHeaderField("Location")).isEqualTo("ratelimit/");
        for (String part : List.of("", "console.js", "console.css", "icon.svg")) {
            HttpResponse<String> response = page().get(part);
            assertThat(response.statusCode()).as(part).isEqualTo(200);
            assertThat(response.headers().allValues("Content-Security-Policy"))
                    .hasSize(1)
                    .first()
                    .asString()
                    .startsWith("default-src 'none'; script-src 'self'");
            assertThat(response.headers().allValues("Cache-Control")).containsExactly("no-store");
        }
        assertThat(page().get("").body()).contains("<title>Rate limits</title>");
        assertThat(page().get("other").statusCode()).isEqualTo(404);
    }

    @Test
    void stateHasThePoliciesAndTheirSources() {
        JsonObject fleet = page().api("instances");
        JsonObject self = fleet.getJsonArray("instances").getJsonObject(0);
        assertThat(fleet.getString("scope")).isEqualTo("instance");
        assertThat(self.getJsonObject("backend").getString("name")).isEqualTo("local");
        assertThat(self.getString("server")).isNotBlank().isNotEqualTo("unknown");
        assertThat(self.getString("version")).isNotEqualTo("unknown");
        assertThat(fleet.getJsonObject("reload").getString("result")).isEqualTo("applied");
        assertThat(page().api("policies").getJsonArray("policies").getValuesAs(JsonObject.class))
                .extracting(policy -> policy.getString("name"))
                .contains("hello", "login-ip", "plan", "ReportService.report");
        assertThat(page().policy("login-user").getJsonArray("settings").getValuesAs(JsonObject.class))
                .anySatisfy(setting -> {
                    assertThat(setting.getString("property")).isEqualTo("ratelimit.policies.login-user.limit");
                    assertThat(setting.getString("value")).isEqualTo("20/1m");
                    assertThat(setting.getString("source"))
                            .isNotEqualTo("default")
                            .isNotBlank();
                });
        assertThat(page().policy("ReportService.report")
                        .getJsonArray("settings")
                        .toString())
                .contains("3/10s", "io.weir.example.ReportService.report()");
    }

    @Test
    void listsLooksUpAndResetsARejectedCaller() {
        page().post("api/v1/callers/reset", ConsolePage.THIS_CLIENT);
        assertThat(Http.statuses(8, Http.loopback(base).resolve("api/hello")))
                .containsExactly(200, 200, 200, 200, 200, 429, 429, 429);
        assertThat(page().remaining()).isZero();
        JsonArray rejected = page().api("callers?policy=hello").getJsonArray("rejected");
        assertThat(rejected).isNotEmpty();
        String key = rejected.getJsonObject(0).getString("key");
        assertThat(key).doesNotContain("127.0.0.1");
        assertThat(rejected.getJsonObject(0).getInt("maxCount")).isGreaterThanOrEqualTo(3);
        Await.until(
                "rejections are counted",
                Duration.ofSeconds(10),
                () -> page().policy("hello")
                        .getJsonObject("rates")
                        .getJsonObject("outcomes")
                        .keySet()
                        .containsAll(List.of("allowed", "rejected")));
        String request = "{\"policy\":\"hello\",\"hashedKey\":\"" + key + "\"}";
        assertThat(ConsolePage.json(page().post("api/v1/callers/peek", request)).getString("key"))
                .isEqualTo(key);
        assertThat(page().post("api/v1/callers/reset", request).statusCode()).isEqualTo(200);
        assertThat(page().remaining()).isEqualTo(5);
    }

    @Test
    void pathRuleInShadowModeIsCountedAndRejectsNoCall() {
        URI quota = Http.loopback(base).resolve("api/quota");
        assertThat(Http.statuses(61, quota)).containsOnly(200);
        Await.until(
                "the call above the limit is counted",
                Duration.ofSeconds(10),
                () -> page().policy("quota-reads")
                        .getJsonObject("rates")
                        .getJsonObject("outcomes")
                        .containsKey("shadow_rejected"));
        JsonObject policy = page().policy("quota-reads");
        assertThat(policy.getString("mode")).isEqualTo("shadow");
        JsonObject callers = page().api("callers?policy=quota-reads");
        assertThat(callers.getJsonArray("nearLimit")).hasSize(1);
        assertThat(callers.getJsonArray("active")
                        .getJsonObject(0)
                        .getJsonNumber("utilization")
                        .doubleValue())
                .isEqualTo(1);
        assertThat(page().policy("probes").getString("onFailure")).isEqualTo("local");
    }

    @Test
    void onlyASameOriginPostChangesState() {
        page().post("api/v1/callers/reset", ConsolePage.THIS_CLIENT);
        Http.get(Http.loopback(base).resolve("api/hello"));
        assertThat(page().remaining()).isEqualTo(4);
        assertThat(page().get("api/v1/callers/reset").statusCode()).isEqualTo(405);
        assertThat(page().get("api/v1/callers/reset?policy=hello&alternative=0&values=127.0.0.1")
                        .statusCode())
                .isEqualTo(405);
        assertThat(page().crossOriginPost("api/v1/callers/reset", ConsolePage.THIS_CLIENT)
                        .statusCode())
                .isEqualTo(403);
        for (String origin : List.of("null", "http://example.org", "http://127.0.0.1:1", "http://a.127.0.0.1")) {
            assertThat(page().crossOriginPost("api/v1/callers/reset", ConsolePage.THIS_CLIENT, "Origin", origin)
                            .statusCode())
                    .as(origin)
                    .isEqualTo(403);
        }
        assertThat(page().crossOriginPost(
                                "api/v1/callers/reset", ConsolePage.THIS_CLIENT, "Sec-Fetch-Site", "cross-site")
                        .statusCode())
                .isEqualTo(403);
        assertThat(page().remaining()).isEqualTo(4);
        String sameOrigin = "http://" + Http.loopback(base).getAuthority();
        assertThat(page().crossOriginPost("api/v1/callers/reset", ConsolePage.THIS_CLIENT, "Origin", sameOrigin)
                        .statusCode())
                .isEqualTo(200);
        assertThat(page().remaining()).isEqualTo(5);
    }
}
