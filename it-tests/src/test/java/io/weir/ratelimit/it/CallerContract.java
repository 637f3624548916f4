// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys, tiers, bypasses and modes of policies. */
interface CallerContract extends PolicyClient {
    // --- Modes

    @Test
    default void shadowPolicyNeverRejectsAndHasNoHeaders() {
        for (int i = 0; i < 5; i++) {
            HttpResponse<String> response = get("api/caller/shadow");
            assertThat(response.statusCode()).isEqualTo(200);
            LimitResponse.verifyNoQuota(response);
        }
        assertThat(remaining("shadow")).as("the first call was charged").isZero();
    }

    @Test
    default void shadowPolicySpendsWithTheOthersOrNotAtAll() {
        HttpResponse<String> first = get("api/caller/shadow-and-enforced");
        assertThat(LimitResponse.field(first, "RateLimit-Policy")).isEqualTo("\"enforced\";q=2;w=3600");
        assertThat(List.of(remaining("shadow"), remaining("enforced"))).containsExactly(0L, 1L);
        assertThat(get("api/caller/shadow-and-enforced").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/caller/shadow-and-enforced"), "enforced");
    }

    @Test
    default void disabledPolicyNeitherRejectsNorCounts() {
        assertThat(Http.statuses(5, uri("api/caller/off"), fields())).containsOnly(200);
        LimitResponse.verifyNoQuota(get("api/caller/off"));
        assertThat(remaining("off")).isEqualTo(1);
    }

    // --- Tiers

    @ParameterizedTest
    @ValueSource(strings = {"tier", "tier-of-bean"})
    default void tierHasASeparateLimitAndTheSameState(String resource) {
        String path = "api/caller/" + resource;
        String policy = resource.equals("tier") ? "tiered" : "tiered-by-bean";
        HttpResponse<String> gold = get(path, "X-Plan", "gold");
        assertThat(LimitResponse.field(gold, "RateLimit-Policy")).isEqualTo("\"" + policy + "\";q=3;w=3600");
        assertThat(LimitResponse.remaining(gold)).isEqualTo(2);
        assertThat(remaining(policy, "X-Plan", "gold")).isEqualTo(2);

        HttpResponse<String> none = get(path);
        LimitResponse.verifyRejected(none, policy);
        assertThat(LimitResponse.field(none, "RateLimit-Policy")).isEqualTo("\"" + policy + "\";q=1;w=3600");

        assertThat(LimitResponse.remaining(get(path, "X-Plan", "gold"))).isEqualTo(1);
        assertThat(get(path, "X-Plan", "gold").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get(path, "X-Plan", "gold"), policy);
    }

    @ParameterizedTest
    @CsvSource({"tier, silver", "tier, GOLD", "tier-of-bean, silver", "tier-of-bean, throws", "tier-of-bean, null"})
    default void unknownTierHasTheLimitOfThePolicy(String resource, String plan) {
        String path = "api/caller/" + resource;
        assertThat(LimitResponse.field(get(path, "X-Plan", plan), "RateLimit-Policy"))
                .contains(";q=1;");
        assertThat(get(path, "X-Plan", plan).statusCode()).isEqualTo(429);
    }

    // --- Keys

    @Test
    default void beanCanResolveAKey() {
        assertThat(with("tenant", "X-Tenant", client())).isEqualTo(200);
        assertThat(with("tenant", "X-Tenant", client())).isEqualTo(429);
        assertThat(with("tenant", "X-Tenant", client() + "x")).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"throws", "null", "unresolved"})
    default void unresolvedCallersShareOneLimit(String tenant) {
        resetAnonymous("by-tenant");
        assertThat(with("tenant", "X-Tenant", tenant)).isEqualTo(200);
        for (String other : List.of("throws", "null", "unresolved")) {
            assertThat(with("tenant", "X-Tenant", other)).as(other).isEqualTo(429);
        }
    }

    @Test
    default void cookieCanBeAKey() {
        assertThat(with("cookie", "Cookie", "other=a; session=" + client())).isEqualTo(200);
        assertThat(with("cookie", "Cookie", "session=" + client() + "; other=b"))
                .isEqualTo(429);
        assertThat(with("cookie", "Cookie", "session=" + client() + "x")).isEqualTo(200);
        resetAnonymous("by-cookie");
        assertThat(with("cookie", "Cookie", "other=" + client())).isEqualTo(200);
        assertThat(with("cookie")).isEqualTo(429);
    }

    @Test
    default void queryParameterCanBeAKey() {
        assertThat(with("query?q=" + client() + "%21")).isEqualTo(200);
        assertThat(with("query?p=1&q=" + client() + "!&q=other")).isEqualTo(429);
        assertThat(with("query?q=" + client())).isEqualTo(200);
    }

    @Test
    default void pathParameterCanBeAKey() {
        assertThat(with("path/" + client() + "%21")).isEqualTo(200);
        assertThat(with("path/" + client() + "!")).isEqualTo(429);
        assertThat(with("path/" + client() + "!;x=y")).isEqualTo(429);
        assertThat(with("path/" + client())).isEqualTo(200);
    }

    @Test
    default void methodCanBeAKey() {
        assertThat(with("method-one")).isEqualTo(200);
        assertThat(with("method-one")).isEqualTo(429);
        assertThat(with("method-two")).isEqualTo(200);
    }

    @Test
    default void differentCompoundsAreDifferentKeys() {
        List<String> seams = List.of(":", "+", "|", "%2B", "%20", ".", ",", "}", "~");
        for (String seam : seams) {
            String left = client() + seam + "b";
            assertThat(with("pair", "X-A", left, "X-B", "c")).as(seam).isEqualTo(200);
            assertThat(with("pair", "X-A", client(), "X-B", "b" + seam + "c"))
                    .as(seam)
                    .isEqualTo(200);
            assertThat(with("pair", "X-A", left, "X-B", "c")).as(seam).isEqualTo(429);
        }
        assertThat(with("pair", "X-A", "c", "X-B", client() + ":b")).isEqualTo(200);
    }

    @Test
    default void compoundKeyRequiresAllParts() {
        resetAnonymous("by-pair");
        assertThat(with("pair", "X-A", client())).isEqualTo(200);
        assertThat(with("pair", "X-B", client())).isEqualTo(429);
    }

    // --- Addresses

    @Test
    default void trustedProxyDeterminesTheClientAddress() {
        String address = Http.freshAddress();
        assertThat(with("ip", "X-Forwarded-For", address)).isEqualTo(200);
        assertThat(with("ip", "X-Forwarded-For", "198.51.100.1, " + address)).isEqualTo(429);
        assertThat(with("ip", "X-Forwarded-For", "junk, 127.0.0.1, " + address)).isEqualTo(429);
        assertThat(with("ip", "X-Forwarded-For", address + ", 127.0.0.9")).isEqualTo(429);
        assertThat(with("ip", "X-Forwarded-For", "198.51.100.1", "X-Forwarded-For", address))
                .as("the last of several lines")
                .isEqualTo(429);
        assertThat(with("ip", "X-Forwarded-For", address, "X-Forwarded-For", Http.freshAddress()))
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"junk", "", "unknown", "_hidden", "1", "localhost", "::g", "198.51.100.999", "198.51.100.1, "})
    default void peerAddressAppliesWithoutAForwardedAddress(String forwarded) {
        Http.delete(uri("api/remaining/by-ip/loopback"));
        assertThat(with("ip", "X-Forwarded-For", forwarded)).isEqualTo(200);
        assertThat(with("ip")).isEqualTo(429);
    }

    // --- Hierarchies

    @Test
    default void hierarchyIsOneDecisionAndReportsTheLevel() {
        String team = "api/caller/orgs/" + client() + "/teams/a/users/";
        assertThat(get(team + "one").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get(team + "one"), "user");
        HttpResponse<String> second = get(team + "two");
        assertThat(LimitResponse.field(second, "RateLimit-Policy"))
                .isEqualTo("\"org\";q=3;w=3600, \"team\";q=2;w=3600, \"user\";q=1;w=3600");
        assertThat(second.statusCode()).as("the rejection spent nothing").isEqualTo(200);
        LimitResponse.verifyRejected(get(team + "three"), "team");
        String other = "api/caller/orgs/" + client() + "/teams/b/users/";
        assertThat(get(other + "one").statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get(other + "two"), "org");
    }

    // --- Bypass

    @Test
    default void tokenBypassesLimits() {
        verifyBypass("once", "X-RateLimit-Bypass", "let-me-pass");
    }

    @Test
    default void addressBypassesLimits() {
        verifyBypass("once", "X-Forwarded-For", "203.0.113.77");
    }

    @Test
    default void roleBypassesLimits() {
        verifyBypass("role", "Authorization", Http.basic("ann", "ann-password"));
    }

    private void verifyBypass(String resource, String... headers) {
        String[] all = fields(headers);
        assertThat(Http.statuses(5, uri("api/caller/" + resource), all)).containsOnly(200);
        LimitResponse.verifyNoQuota(Http.get(uri("api/caller/" + resource), all));
        assertThat(remaining("once")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "X-RateLimit-Bypass, wrong",
        "X-RateLimit-Bypass, let-me-pass-too",
        "X-RateLimit-Bypass, 47ba6b1bcd1e7f6d4a3a3e1b4d4f6ae9d5d1f0c8f7e6d5c4b3a29180706f5e4d",
        "X-Forwarded-For, '203.0.113.77, 198.51.100.1'",
        "Authorization, Basic YW5uOndyb25n"
    })
    default void invalidBypassIsLimited(String header, String value) {
        assertThat(with("once", header, value)).isEqualTo(200);
        assertThat(with("once", header, value)).isEqualTo(429);
    }

    // --- Helpers

    private int with(String resource, String... headers) {
        return get("api/caller/" + resource, headers).statusCode();
    }

    private void resetAnonymous(String policy) {
        Http.delete(uri("api/remaining/" + policy + "/anonymous"));
    }
}
