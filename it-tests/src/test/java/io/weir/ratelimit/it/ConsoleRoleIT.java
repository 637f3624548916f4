// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.app.Users;
import java.net.URL;
import java.net.http.HttpResponse;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The console with a role, in an application with users. */
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class ConsoleRoleIT {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static WebArchive application() {
        return TestWar.libraries("weir-console-role.war")
                .addPackage(TestWar.class.getPackageName() + ".plain")
                .addClass(Users.class)
                .addAsResource(
                        new StringAsset("ratelimit.console.enabled=true\nratelimit.console.role=user\n"
                                + "ratelimit.policies.hello.limit=5/1h\nratelimit.policies.hello.key=ip\n"),
                        "META-INF/microprofile-config.properties")
                .addAsWebInfResource(
                        new StringAsset("<beans xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"4.0\""
                                + " bean-discovery-mode=\"all\"/>"),
                        "beans.xml")
                .addAsWebInfResource(
                        new StringAsset("<web-app xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"6.0\">"
                                + "<security-role><role-name>user</role-name></security-role></web-app>"),
                        "web.xml");
    }

    private ConsolePage page() {
        return new ConsolePage(Http.loopback(base));
    }

    @Test
    void requiresALogin() {
        page().assertStatus(401);
        HttpResponse<String> challenge = page().get("");
        assertThat(challenge.headers().firstValue("WWW-Authenticate").orElseThrow())
                .startsWithIgnoringCase("Basic");
    }

    @Test
    void rejectsUsersWithoutTheRole() {
        page().assertStatus(403, ConsolePage.as("outsider", "outsider-password"));
    }

    @Test
    void rejectsAWrongPassword() {
        assertThat(page().get("api/v1/instances", ConsolePage.as("ann", "ben-password"))
                        .statusCode())
                .isEqualTo(401);
    }

    @Test
    void allowsUsersWithTheRole() {
        String[] ann = ConsolePage.as("ann", "ann-password");
        assertThat(page().get("", ann).statusCode()).isEqualTo(200);
        assertThat(ConsolePage.json(page().get("api/v1/policies", ann)).getJsonArray("policies"))
                .isNotEmpty();
        String caller = "{\"policy\":\"PlainResource.get\",\"alternative\":\"0\",\"values\":[\"127.0.0.1\"]}";
        assertThat(Http.statuses(4, Http.loopback(base).resolve("api/plain"))).containsExactly(200, 200, 200, 429);
        assertThat(page().post("api/v1/callers/reset", caller, ann).statusCode())
                .isEqualTo(200);
        assertThat(Http.statuses(1, Http.loopback(base).resolve("api/plain"))).containsExactly(200);
    }
}
