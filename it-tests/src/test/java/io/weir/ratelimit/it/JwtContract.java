// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limits of callers with MicroProfile JWT, on the application of the package {@code jwt}. */
abstract class JwtContract {
    String tenant = "";

    @BeforeEach
    void newTenant() {
        tenant = UUID.randomUUID().toString();
    }

    /** Returns the issuer whose tokens the application accepts. */
    abstract JwtIssuer issuer();

    abstract URI base();

    @Test
    void usersOfATenantShareALimit() throws Exception {
        assertThat(get("tenant", issuer().bearer("ann", tenant(tenant))).statusCode())
                .isEqualTo(200);
        assertThat(get("tenant", issuer().bearer("ben", tenant(tenant))).statusCode())
                .isEqualTo(200);
        LimitResponse.verifyRejected(get("tenant", issuer().bearer("cem", tenant(tenant))), "by-tenant");
        assertThat(get("tenant", issuer().bearer("ann", tenant(tenant + "x"))).statusCode())
                .isEqualTo(200);
    }

    @Test
    void forgedTokenIsNotCharged() throws Exception {
        String forged = JwtIssuer.withNewKey().bearer("ann", tenant(tenant));
        for (int i = 0; i < 3; i++) {
            assertThat(get("tenant", forged).statusCode()).isEqualTo(401);
        }
        assertThat(LimitResponse.remaining(get("tenant", issuer().bearer("ann", tenant(tenant)))))
                .isEqualTo(1);
    }

    @Test
    void claimsCanBeTiersAndKeys() throws Exception {
        HttpResponse<String> gold = get("plan", issuer().bearer(tenant, plan(7, "gold")));
        assertThat(LimitResponse.field(gold, "RateLimit-Policy")).isEqualTo("\"by-user\";q=3;w=3600");
        assertThat(LimitResponse.remaining(gold)).isEqualTo(2);
        assertThat(LimitResponse.remaining(get("plan", issuer().bearer(tenant, plan(7, "gold")))))
                .isEqualTo(1);
        assertThat(LimitResponse.remaining(get("plan", issuer().bearer(tenant, plan(8, "gold")))))
                .isEqualTo(2);
        LimitResponse.verifyRejected(get("plan", issuer().bearer(tenant, plan(7, "free"))), "by-user");
    }

    @Test
    @Tag("field")
    void aClaimCanBeInAnArrayOrInAnObject() throws Exception {
        JsonObjectBuilder gold = Json.createObjectBuilder()
                .add("level", 7)
                .add("plan", Json.createArrayBuilder().add("gold"));
        assertThat(LimitResponse.field(get("plan", issuer().bearer(tenant, gold)), "RateLimit-Policy"))
                .isEqualTo("\"by-user\";q=3;w=3600");
        assertThat(get("organization", issuer().bearer("ann", organization(tenant)))
                        .statusCode())
                .isEqualTo(200);
        LimitResponse.verifyRejected(
                get("organization", issuer().bearer("ben", organization(tenant))), "by-organization");
        assertThat(get("organization", issuer().bearer("ann", organization(tenant + "x")))
                        .statusCode())
                .isEqualTo(200);
    }

    private static JsonObjectBuilder organization(String id) {
        return Json.createObjectBuilder().add("org", Json.createObjectBuilder().add("id", id));
    }

    static JsonObjectBuilder tenant(String tenant) {
        return Json.createObjectBuilder().add("tenant", tenant);
    }

    private static JsonObjectBuilder plan(int level, String plan) {
        return Json.createObjectBuilder().add("level", level).add("plan", plan);
    }

    final HttpResponse<String> get(String resource, String bearer) {
        return Http.get(base().resolve("api/claim/" + resource), "Authorization", bearer);
    }
}
