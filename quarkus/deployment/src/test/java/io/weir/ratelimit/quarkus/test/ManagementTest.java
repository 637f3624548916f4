// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The console on the management interface. */
class ManagementTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class))
            .overrideConfigKey("quarkus.management.enabled", "true")
            .overrideConfigKey("quarkus.management.test-port", "0")
            .overrideConfigKey("quarkus.management.auth.enabled", "true")
            .overrideConfigKey("quarkus.management.auth.basic", "true")
            .overrideConfigKey("quarkus.security.users.embedded.enabled", "true")
            .overrideConfigKey("quarkus.security.users.embedded.plain-text", "true")
            .overrideConfigKey("quarkus.security.users.embedded.users.ann", "secret")
            .overrideConfigKey("quarkus.security.users.embedded.roles.ann", "operator")
            .overrideConfigKey("ratelimit.policies.hello.limit", "1/1h")
            .overrideConfigKey("ratelimit.console.enabled", "true")
            .overrideConfigKey("ratelimit.console.role", "operator");

    @TestHTTPResource
    URI application;

    @TestHTTPResource(value = "/", management = true)
    URI management;

    private static String basic(String password) {
        return "Basic " + Base64.getEncoder().encodeToString(("ann:" + password).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void theConsoleIsOnTheManagementInterfaceOnly() throws Exception {
        Client operator = new Client(management);
        assertThat(operator.get("q/ratelimit/", "Authorization", basic("secret"))
                        .statusCode())
                .isEqualTo(200);
        assertThat(operator.get("q/ratelimit/api/v1/policies", "Authorization", basic("secret"))
                        .statusCode())
                .isEqualTo(200);
        HttpRequest peek = HttpRequest.newBuilder(management.resolve("/q/ratelimit/api/v1/callers/peek"))
                .POST(HttpRequest.BodyPublishers.ofString("{\"policy\":\"hello\",\"text\":\"ann\"}"))
                .headers("Authorization", basic("secret"), "Content-Type", "application/json")
                .header("Sec-Fetch-Site", "same-origin")
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(peek, HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(operator.get("q/ratelimit/", "Authorization", basic("wrong")).statusCode())
                .isEqualTo(401);
        assertThat(operator.get("q/ratelimit/").statusCode()).isEqualTo(401);
        assertThat(new Client(application)
                        .get("q/ratelimit/", "Authorization", basic("secret"))
                        .statusCode())
                .isEqualTo(404);
    }
}
