// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.UUID;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JWT claims as keys and tiers, on Open Liberty. */
@Tag("server")
@Tag("ci")
class JwtIT {
    @TempDir
    private static Path temp;

    private static JwtIssuer issuer;
    private static Server server;

    private final String tenant = UUID.randomUUID().toString();

    @BeforeAll
    static void start() throws Exception {
        issuer = JwtIssuer.withNewKey();
        WebArchive war = TestWar.of("jwt")
                .addAsWebInfResource("jwt/web.xml", "web.xml")
                .addAsResource(new StringAsset(issuer.publicKey()), "META-INF/key.pem");
        server = LibertyServer.named("jwt")
                .war(TestWar.written(war, temp))
                // Open Liberty evaluates tokens only with TLS, which requires a key store.
                .serverXml("<server><featureManager><feature>mpJwt-2.1</feature></featureManager>"
                        + "<keyStore id=\"defaultKeyStore\" password=\"" + UUID.randomUUID() + "\"/></server>")
                .readyPath("api/claim/open")
                .start();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void usersOfATenantShareALimit() throws Exception {
        assertThat(get("tenant", issuer.bearer("ann", tenant(tenant))).statusCode())
                .isEqualTo(200);
        assertThat(get("tenant", issuer.bearer("ben", tenant(tenant))).statusCode())
                .isEqualTo(200);
        LimitResponse.verifyRejected(get("tenant", issuer.bearer("cem", tenant(tenant))), "by-tenant");
        assertThat(get("tenant", issuer.bearer("ann", tenant(tenant + "x"))).statusCode())
                .isEqualTo(200);
    }

    @Test
    void forgedTokenIsNotCharged() throws Exception {
        String forged = JwtIssuer.withNewKey().bearer("ann", tenant(tenant));
        for (int i = 0; i < 3; i++) {
            assertThat(get("tenant", forged).statusCode()).isEqualTo(401);
        }
        assertThat(LimitResponse.remaining(get("tenant", issuer.bearer("ann", tenant(tenant)))))
                .isEqualTo(1);
    }

    @Test
    void claimsCanBeTiersAndKeys() throws Exception {
        HttpResponse<String> gold = get("plan", issuer.bearer(tenant, plan(7, "gold")));
        assertThat(LimitResponse.field(gold, "RateLimit-Policy")).isEqualTo("\"by-user\";q=3;w=3600");
        assertThat(LimitResponse.remaining(gold)).isEqualTo(2);
        assertThat(LimitResponse.remaining(get("plan", issuer.bearer(tenant, plan(7, "gold")))))
                .isEqualTo(1);
        assertThat(LimitResponse.remaining(get("plan", issuer.bearer(tenant, plan(8, "gold")))))
                .isEqualTo(2);
        LimitResponse.verifyRejected(get("plan", issuer.bearer(tenant, plan(7, "free"))), "by-user");
    }

    @Test
    @Tag("field")
    void aClaimCanBeInAnArrayOrInAnObject() throws Exception {
        JsonObjectBuilder gold = Json.createObjectBuilder()
                .add("level", 7)
                .add("plan", Json.createArrayBuilder().add("gold"));
        assertThat(LimitResponse.field(get("plan", issuer.bearer(tenant, gold)), "RateLimit-Policy"))
                .isEqualTo("\"by-user\";q=3;w=3600");
        assertThat(get("organization", issuer.bearer("ann", organization(tenant)))
                        .statusCode())
                .isEqualTo(200);
        LimitResponse.verifyRejected(
                get("organization", issuer.bearer("ben", organization(tenant))), "by-organization");
        assertThat(get("organization", issuer.bearer("ann", organization(tenant + "x")))
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    @Tag("field")
    void aClaimThatNoUserHasIsReported() throws Exception {
        String bearer = issuer.bearer("ann", tenant(tenant));
        for (int i = 0; i < 100; i++) {
            assertThat(get("missing", bearer).statusCode()).isEqualTo(200);
        }
        assertThat(server.log())
                .contains("WEIR-337 ratelimit.policies.by-missing.key: the term claim:missing did not resolve");
    }

    private static JsonObjectBuilder organization(String id) {
        return Json.createObjectBuilder().add("org", Json.createObjectBuilder().add("id", id));
    }

    private static JsonObjectBuilder tenant(String tenant) {
        return Json.createObjectBuilder().add("tenant", tenant);
    }

    private static JsonObjectBuilder plan(int level, String plan) {
        return Json.createObjectBuilder().add("level", level).add("plan", plan);
    }

    private static HttpResponse<String> get(String resource, String bearer) {
        return Http.get(server.baseUri().resolve("api/claim/" + resource), "Authorization", bearer);
    }
}
