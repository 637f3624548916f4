// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.app.Users;
import jakarta.json.JsonArray;
import jakarta.json.JsonObject;
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
                                + "ratelimit.changes.enabled=true\nratelimit.changes.role=changer\n"
                                + "ratelimit.policies.hello.limit=5/1h\nratelimit.policies.hello.key=ip\n"),
                        "META-INF/microprofile-config.properties")
                .addAsWebInfResource(
                        new StringAsset("<beans xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"4.0\""
                                + " bean-discovery-mode=\"all\"/>"),
                        "beans.xml")
                .addAsWebInfResource(
                        new StringAsset("<web-app xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"6.0\">"
                                + "<security-role><role-name>user</role-name></security-role>"
                                + "<security-role><role-name>changer</role-name></security-role></web-app>"),
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

    private static String change(String version, String fields) {
        return "{\"version\":\"" + version + "\",\"reason\":\"test\"," + fields + "}";
    }

    private String version(String... user) {
        return ConsolePage.json(page().get("api/v1/changes", user)).getString("version");
    }

    @Test
    void onlyUsersWithBothRolesMakeChanges() {
        String[] ann = ConsolePage.as("ann", "ann-password");
        String[] ben = ConsolePage.as("ben", "ben-password");
        String policy = "\"kind\":\"policy\",\"policy\":\"hello\",";
        assertThat(ConsolePage.json(page().get("api/v1/changes", ben)).getBoolean("mayChange"))
                .isFalse();
        assertThat(ConsolePage.json(page().get("api/v1/changes", ann)).getBoolean("mayChange"))
                .isTrue();
        String tighter = change(version(ann), policy + "\"limit\":\"3/1h\",\"for\":\"1h\"");
        assertThat(page().post("api/v1/changes", tighter).statusCode()).isEqualTo(401);
        assertThat(page().post("api/v1/changes", tighter, ben).statusCode()).isEqualTo(403);
        assertThat(page().crossOriginPost("api/v1/changes", tighter, ann).statusCode())
                .isEqualTo(403);
        JsonObject made =
                ConsolePage.json(page().post("api/v1/changes", tighter, ann)).getJsonObject("change");
        assertThat(made.getString("author")).isEqualTo("ann");
        assertThat(made.getJsonObject("before").getString("limit")).isEqualTo("5/1h");
        assertThat(limit(ben)).isEqualTo("3/1h");
        assertThat(page().post("api/v1/changes", tighter, ann).statusCode()).isEqualTo(409);
        String invalid = change(version(ann), policy + "\"limit\":\"3/1x\"");
        HttpResponse<String> rejected = page().post("api/v1/changes", invalid, ann);
        assertThat(rejected.statusCode()).isEqualTo(422);
        assertThat(rejected.body()).contains("WEIR-111", "ratelimit.policies.hello.limit");
        String undo = change(version(ann), "\"number\":\"" + made.getInt("number") + "\"");
        assertThat(page().post("api/v1/changes/undo", undo, ben).statusCode()).isEqualTo(403);
        assertThat(page().post("api/v1/changes/undo", undo, ann).statusCode()).isEqualTo(200);
        assertThat(limit(ben)).isEqualTo("5/1h");
        JsonArray log =
                ConsolePage.json(page().get("api/v1/changes?log=2", ben)).getJsonArray("log");
        assertThat(log.getJsonObject(0).getInt("undoes")).isEqualTo(made.getInt("number"));
        assertThat(log.getJsonObject(1).getInt("number")).isEqualTo(made.getInt("number"));
    }

    private String limit(String... user) {
        return ConsolePage.json(page().get("api/v1/policies", user))
                .getJsonArray("policies")
                .getValuesAs(JsonObject.class)
                .stream()
                .filter(policy -> policy.getString("name").equals("hello"))
                .findFirst()
                .orElseThrow()
                .getJsonArray("limits")
                .getString(0);
    }

    @Test
    void aBlockAndAnOverrideApplyToRequests() {
        String[] ann = ConsolePage.as("ann", "ann-password");
        String key = "\"policy\":\"PlainResource.get\",\"alternative\":\"0\",\"values\":[\"127.0.0.1\"]";
        assertThat(page().post("api/v1/callers/reset", "{" + key + "}", ann).statusCode())
                .isEqualTo(200);
        String override = change(version(ann), "\"kind\":\"override\"," + key + ",\"limit\":\"1/1h\"");
        JsonObject limited =
                ConsolePage.json(page().post("api/v1/changes", override, ann)).getJsonObject("change");
        assertThat(limited.getString("key")).doesNotContain("127.0.0.1");
        assertThat(Http.statuses(2, Http.loopback(base).resolve("api/plain"))).containsExactly(200, 429);
        undo(limited, ann);
        assertThat(Http.statuses(1, Http.loopback(base).resolve("api/plain"))).containsExactly(200);
        String block = change(version(ann), "\"kind\":\"block\"," + key + ",\"for\":\"1h\"");
        JsonObject blocked =
                ConsolePage.json(page().post("api/v1/changes", block, ann)).getJsonObject("change");
        assertThat(Http.statuses(1, Http.loopback(base).resolve("api/plain"))).containsExactly(429);
        undo(blocked, ann);
        assertThat(Http.statuses(1, Http.loopback(base).resolve("api/plain"))).containsExactly(200);
        assertThat(page().post("api/v1/callers/reset", "{" + key + "}", ann).statusCode())
                .isEqualTo(200);
    }

    private void undo(JsonObject change, String... user) {
        String undo = change(version(user), "\"number\":\"" + change.getInt("number") + "\"");
        assertThat(page().post("api/v1/changes/undo", undo, user).statusCode()).isEqualTo(200);
    }
}
