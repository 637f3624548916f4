// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.AnnotatedMethods;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ClientWarningsTest {
    private boolean usesLimiter;

    private List<String> warnings(Set<String> annotated, String... lines) {
        Map<String, String> properties = new HashMap<>(Map.of("ratelimit.policies.calls.limit", "5/1s"));
        for (String line : lines) {
            properties.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
        }
        ConfigProperties config = ConfigProperties.of(properties);
        Problems problems = new Problems();
        Map<String, String> places = new HashMap<>();
        annotated.forEach(client -> places.put(client, "com.example.Partner"));
        Map<String, OutgoingClient> clients = ClientReader.read(config, places, Map.of(), problems);
        PolicySnapshot snapshot = new PolicySnapshotLoader(
                        List.of(),
                        AnnotatedMethods.Scanner.NONE,
                        new Resolvers(new KeyTerms(32, 64), Map.of()),
                        Set.of())
                .withEndpoints(
                        clients.values().stream().map(OutgoingClient::limits).toList(),
                        (policy, ofPolicy, found) -> ClientPolicyCheck.check(
                                clients.values(), Map.of(policy.name(), policy), ofPolicy, found))
                .load(config, problems);
        assertThat(problems.found()).isEmpty();
        ApplicationView view = new ApplicationView(List.of(), List.of(), Set.of(), usesLimiter, false);
        return new ClientWarnings(clients, annotated, config)
                .all(snapshot, view).stream().map(MessageCatalog.Message::text).toList();
    }

    @Test
    void aSoundClientCausesNoWarning() {
        assertThat(warnings(
                        Set.of("partner"),
                        "ratelimit.clients.partner.policy=calls",
                        "ratelimit.clients.partner.max-pause=1m",
                        "ratelimit.policies.calls.mode=shadow"))
                .isEmpty();
    }

    @Test
    @Tag("field")
    void warnsOfAClientThatNoAnnotationNames() {
        assertThat(warnings(
                        Set.of("partner"),
                        "ratelimit.clients.partner.policy=calls",
                        "ratelimit.clients.prtner.policy=calls"))
                .containsExactly(
                        "WEIR-022 ratelimit.clients.prtner: no @OutgoingRateLimit names client prtner. Its limits apply"
                                + " only to calls of code that names it. Did you mean partner?");
        assertThat(warnings(Set.of(), "ratelimit.clients.partner.policy=calls"))
                .containsExactly(
                        "WEIR-022 ratelimit.clients.partner: no @OutgoingRateLimit names client partner. Its limits"
                                + " apply only to calls of code that names it. Otherwise correct or remove the properties.");
    }

    @Test
    @Tag("field")
    void warnsOfThePauseOfAClientThatObeysNothing() {
        String[] pause = {
            "ratelimit.clients.partner.policy=calls",
            "ratelimit.clients.partner.max-pause=1m",
            "ratelimit.clients.partner.obey=none"
        };
        assertThat(warnings(Set.of("partner"), pause))
                .containsExactly("WEIR-015 ratelimit.clients.partner.max-pause has no effect unless"
                        + " ratelimit.clients.partner.obey has a value such as retry-after, ratelimit. Set that as well, or"
                        + " remove ratelimit.clients.partner.max-pause.");
    }

    @Test
    @Tag("field")
    void warnsOfAttributesForRequestsOfAPolicyThatOnlyAClientUses() {
        String[] policy = {
            "ratelimit.clients.partner.policy=calls",
            "ratelimit.policies.calls.key=header:X-Foo",
            "ratelimit.policies.calls.tier=header:X-Plan",
            "ratelimit.policies.calls.tiers.gold.limit=9/1s",
            "ratelimit.policies.calls.help=https://example.org",
            "ratelimit.policies.calls.disclosure=minimal",
            "ratelimit.policies.calls.cost=2",
            "ratelimit.policies.calls.notify-at=80%"
        };
        assertThat(warnings(Set.of("partner"), policy))
                .hasSize(5)
                .allMatch(line ->
                        line.endsWith(" has no effect, because only REST client partner uses the policy. Remove it."
                                + " The key of the client is ratelimit.clients.partner.key."))
                .anyMatch(line -> line.startsWith("WEIR-015 ratelimit.policies.calls.key "))
                .anyMatch(line -> line.startsWith("WEIR-015 ratelimit.policies.calls.tiers.gold.limit "));
        usesLimiter = true;
        assertThat(warnings(Set.of("partner"), policy)).isEmpty();
    }
}
