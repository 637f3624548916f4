// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who shares a limit, which limit a caller has, who is let past, and what is only watched. */
interface CallerContract extends PolicyClient {
    // --- Modes

    @Test
    default void aShadowRefusesNobodyAndIsNotTold() {
        for (int i = 0; i < 5; i++) {
            HttpResponse<String> response = get("api/caller/shadow");
            assertThat(response.statusCode()).isEqualTo(200);
            Refusal.verifyNoQuota(response);
        }
        assertThat(left("shadow")).as("the first of them was charged").isZero();
    }

    @Test
    default void aShadowSpendsWithTheOthersOrNotAtAll() {
        HttpResponse<String> first = get("api/caller/shadow-and-enforced");
        assertThat(Refusal.field(first, "RateLimit-Policy")).isEqualTo("\"enforced\";q=2;w=3600");
        assertThat(List.of(left("shadow"), left("enforced"))).containsExactly(0L, 1L);
        assertThat(get("api/caller/shadow-and-enforced").statusCode()).isEqualTo(200);
        Refusal.verify(get("api/caller/shadow-and-enforced"), "enforced");
    }

    @Test
    default void aPolicyThatIsOffNeitherRefusesNorCounts() {
        assertThat(Http.statuses(5, uri("api/caller/off"), fields())).containsOnly(200);
        Refusal.verifyNoQuota(get("api/caller/off"));
        assertThat(left("off")).isEqualTo(1);
    }

    // --- Tiers

    @ParameterizedTest
    @ValueSource(strings = {"tier", "tier-of-bean"})
    default void aTierHasItsOwnLimitAndKeepsWhatWasCounted(String resource) {
        String path = "api/caller/" + resource;
        String policy = resource.equals("tier") ? "tiered" : "tiered-by-bean";
        HttpResponse<String> gold = get(path, "X-Plan", "gold");
        assertThat(Refusal.field(gold, "RateLimit-Policy")).isEqualTo("\"" + policy + "\";q=3;w=3600");
        assertThat(Refusal.remaining(gold)).isEqualTo(2);
        assertThat(left(policy, "X-Plan", "gold")).isEqualTo(2);

        HttpResponse<String> none = get(path);
        Refusal.verify(none, policy);
        assertThat(Refusal.field(none, "RateLimit-Policy")).isEqualTo("\"" + policy + "\";q=1;w=3600");

        assertThat(Refusal.remaining(get(path, "X-Plan", "gold"))).isEqualTo(1);
        assertThat(get(path, "X-Plan", "gold").statusCode()).isEqualTo(200);
        Refusal.verify(get(path, "X-Plan", "gold"), policy);
    }

    @ParameterizedTest
    @CsvSource({"tier, silver", "tier, GOLD", "tier-of-bean, silver", "tier-of-bean, throws", "tier-of-bean, null"})
    default void whoHasNoTierThatIsKnownHasThePolicysLimit(String resource, String plan) {
        String path = "api/caller/" + resource;
        assertThat(Refusal.field(get(path, "X-Plan", plan), "RateLimit-Policy")).contains(";q=1;");
        assertThat(get(path, "X-Plan", plan).statusCode()).isEqualTo(429);
    }

    // --- Keys

    @Test
    default void aBeanTellsCallersApart() {
        assertThat(with("tenant", "X-Tenant", client())).isEqualTo(200);
        assertThat(with("tenant", "X-Tenant", client())).isEqualTo(429);
        assertThat(with("tenant", "X-Tenant", client() + "x")).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"throws", "null", "nobody"})
    default void whomABeanDoesNotResolveSharesOneLimit(String tenant) {
        resetAnonymous("by-tenant");
        assertThat(with("tenant", "X-Tenant", tenant)).isEqualTo(200);
        for (String other : List.of("throws", "null", "nobody")) {
            assertThat(with("tenant", "X-Tenant", other)).as(other).isEqualTo(429);
        }
    }

    @Test
    default void aCookieIsAKey() {
        assertThat(with("cookie", "Cookie", "other=a; session=" + client())).isEqualTo(200);
        assertThat(with("cookie", "Cookie", "session=" + client() + "; other=b"))
                .isEqualTo(429);
        assertThat(with("cookie", "Cookie", "session=" + client() + "x")).isEqualTo(200);
        resetAnonymous("by-cookie");
        assertThat(with("cookie", "Cookie", "other=" + client())).isEqualTo(200);
        assertThat(with("cookie")).isEqualTo(429);
    }

    @Test
    default void aParameterOfTheQueryIsAKey() {
        assertThat(with("query?q=" + client() + "%21")).isEqualTo(200);
        assertThat(with("query?p=1&q=" + client() + "!&q=other")).isEqualTo(429);
        assertThat(with("query?q=" + client())).isEqualTo(200);
    }

    @Test
    default void aParameterOfThePathIsAKey() {
        assertThat(with("path/" + client() + "%21")).isEqualTo(200);
        assertThat(with("path/" + client() + "!")).isEqualTo(429);
        assertThat(with("path/" + client() + "!;x=y")).isEqualTo(429);
        assertThat(with("path/" + client())).isEqualTo(200);
    }

    @Test
    default void theMethodIsAKey() {
        assertThat(with("method-one")).isEqualTo(200);
        assertThat(with("method-one")).isEqualTo(429);
        assertThat(with("method-two")).isEqualTo(200);
    }

    @Test
    default void noTwoCompoundsAreOneKey() {
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
    default void aCompoundNeedsAllOfItsParts() {
        resetAnonymous("by-pair");
        assertThat(with("pair", "X-A", client())).isEqualTo(200);
        assertThat(with("pair", "X-B", client())).isEqualTo(429);
    }

    // --- Addresses

    @Test
    default void behindATrustedProxyTheClientIsWhomItNamesWhateverStandsBefore() {
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
    default void whoNamesNoAddressIsThePeer(String forwarded) {
        Http.delete(uri("api/left/by-ip/loopback"));
        assertThat(with("ip", "X-Forwarded-For", forwarded)).isEqualTo(200);
        assertThat(with("ip")).isEqualTo(429);
    }

    // --- Hierarchies

    @Test
    default void aHierarchyIsOneDecisionAndNamesTheLevel() {
        String team = "api/caller/orgs/" + client() + "/teams/a/users/";
        assertThat(get(team + "one").statusCode()).isEqualTo(200);
        Refusal.verify(get(team + "one"), "user");
        HttpResponse<String> second = get(team + "two");
        assertThat(Refusal.field(second, "RateLimit-Policy"))
                .isEqualTo("\"org\";q=3;w=3600, \"team\";q=2;w=3600, \"user\";q=1;w=3600");
        assertThat(second.statusCode()).as("the refusal above spent nothing").isEqualTo(200);
        Refusal.verify(get(team + "three"), "team");
        String other = "api/caller/orgs/" + client() + "/teams/b/users/";
        assertThat(get(other + "one").statusCode()).isEqualTo(200);
        Refusal.verify(get(other + "two"), "org");
    }

    // --- Who is let past

    @Test
    default void aTokenLetsPast() {
        verifyPast("once", "X-RateLimit-Bypass", "let-me-pass");
    }

    @Test
    default void anAddressLetsPast() {
        verifyPast("once", "X-Forwarded-For", "203.0.113.77");
    }

    @Test
    default void aRoleLetsPast() {
        verifyPast("role", "Authorization", ApplicationContract.basic("ann", "ann-password"));
    }

    private void verifyPast(String resource, String... headers) {
        String[] all = fields(headers);
        assertThat(Http.statuses(5, uri("api/caller/" + resource), all)).containsOnly(200);
        Refusal.verifyNoQuota(Http.get(uri("api/caller/" + resource), all));
        assertThat(left("once")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "X-RateLimit-Bypass, wrong",
        "X-RateLimit-Bypass, let-me-pass-too",
        "X-RateLimit-Bypass, 47ba6b1bcd1e7f6d4a3a3e1b4d4f6ae9d5d1f0c8f7e6d5c4b3a29180706f5e4d",
        "X-Forwarded-For, '203.0.113.77, 198.51.100.1'",
        "Authorization, Basic YW5uOndyb25n"
    })
    default void whoOnlySaysSoIsLimited(String header, String value) {
        assertThat(with("once", header, value)).isEqualTo(200);
        assertThat(with("once", header, value)).isEqualTo(429);
    }

    // --- Helpers

    private int with(String resource, String... headers) {
        return get("api/caller/" + resource, headers).statusCode();
    }

    private void resetAnonymous(String policy) {
        Http.delete(uri("api/left/" + policy + "/anonymous"));
    }
}
