// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClientReaderTest {
    private final Problems problems = new Problems();
    private final Map<String, KeyResolver> resolvers =
            Map.of("account", call -> call.header("X-Account").map(Identity::of), "broken", call -> {
                throw new IllegalStateException();
            });

    private Map<String, OutgoingClient> read(String... lines) {
        return read(Map.of(), lines);
    }

    private Map<String, OutgoingClient> read(Map<String, String> annotated, String... lines) {
        return ClientReader.read(Lines.of(lines), annotated, resolvers, problems);
    }

    private List<String> problems() {
        return problems.lines();
    }

    private static OutgoingCall call(String client, String host, String path) {
        return new OutgoingCall(
                client,
                host,
                Optional.ofNullable(path),
                CallContext.NONE,
                new OutgoingCall.Attempt(1, 2, 3),
                null,
                null);
    }

    @Test
    void readsDefaults() {
        assertThat(read("ratelimit.clients.partner.policy=calls"))
                .containsOnlyKeys("partner")
                .extractingByKey("partner")
                .returns(List.of("calls"), OutgoingClient::policies)
                .returns("client", client -> client.key().toString())
                .returns(true, OutgoingClient::obeysRetryAfter)
                .returns(true, OutgoingClient::obeysQuotas)
                .returns(10, OutgoingClient::retryPercent)
                .returns(Duration.ofMinutes(5), OutgoingClient::maxPause);
        assertThat(problems()).isEmpty();
    }

    @Test
    void readsAllAttributes() {
        assertThat(read(
                                "ratelimit.clients.partner.policy=calls, day, calls",
                                "ratelimit.clients.partner.key=host + path + account",
                                "ratelimit.clients.partner.obey=none",
                                "ratelimit.clients.partner.retry-budget=0%",
                                "ratelimit.clients.partner.max-pause=1m")
                        .get("partner"))
                .returns(List.of("calls", "day"), OutgoingClient::policies)
                .returns(false, OutgoingClient::obeysRetryAfter)
                .returns(false, OutgoingClient::obeysQuotas)
                .returns(0, OutgoingClient::retryPercent)
                .returns(Duration.ofMinutes(1), OutgoingClient::maxPause);
        assertThat(problems()).isEmpty();
    }

    @Test
    void reportsAllProblemsAtOnce() {
        read(
                Map.of("other client", "app.Other", "missing", "app.Missing"),
                "ratelimit.clients.partner.polcy=calls",
                "ratelimit.clients.partner=calls",
                "ratelimit.clients.a.b.policy=calls",
                "ratelimit.clients.bank.key=ip",
                "ratelimit.clients.bank.obey=everything",
                "ratelimit.clients.bank.retry-budget=110%",
                "ratelimit.clients.bank.max-pause=2d");
        assertThat(problems())
                .hasSize(10)
                .anyMatch(line -> line.startsWith("WEIR-230 ratelimit.clients.partner.polcy"))
                .anyMatch(line -> line.startsWith("WEIR-231 ratelimit.clients.partner:"))
                .anyMatch(line -> line.startsWith("WEIR-230 ratelimit.clients.a.b.policy"))
                .anyMatch(line -> line.startsWith("WEIR-232 ratelimit.clients.bank.policy"))
                .anyMatch(line -> line.startsWith("WEIR-234 ratelimit.clients.bank.key = ip: \"ip\" is neither"))
                .anyMatch(line -> line.startsWith("WEIR-102 ratelimit.clients.bank.obey = everything"))
                .anyMatch(line -> line.startsWith("WEIR-102 ratelimit.clients.bank.retry-budget = 110%"))
                .anyMatch(line -> line.startsWith("WEIR-102 ratelimit.clients.bank.max-pause = 2d"))
                .anyMatch(line -> line.startsWith("WEIR-233 app.Other = other client"))
                .anyMatch(line -> line.startsWith("WEIR-232 app.Missing"));
    }

    @Test
    void annotatedClientCanBeConfiguredByTheEnvironmentOnly() {
        // The names of such properties are not known.
        Map<String, OutgoingClient> clients = ClientReader.read(
                Lines.ofVariable("ratelimit.clients.partner.policy", "calls"),
                Map.of("partner", "app.Partner"),
                resolvers,
                problems);
        assertThat(problems()).isEmpty();
        assertThat(clients).containsOnlyKeys("partner");
    }

    @Test
    void missingPolicyOfAClientIsAProblem() {
        OutgoingClient client = read("ratelimit.clients.partner.policy=calls").get("partner");
        PolicyLoader.load(
                Lines.of("ratelimit.clients.partner.policy=calls"),
                List.of(client.limits()),
                new Resolvers(new KeyTerms(32, 64), Map.of()),
                problems);
        assertThat(problems())
                .containsExactly("WEIR-110 ratelimit.clients.partner.policy: policy calls has no limit;"
                        + " set ratelimit.policies.calls.limit, for example to 100/1m");
    }

    @Test
    void reportsPoliciesThatDoNotFit() {
        String[] lines = {
            "ratelimit.clients.partner.policy=calls, leased, running",
            "ratelimit.policies.calls.limit=10/1s",
            "ratelimit.policies.calls.count=failure",
            "ratelimit.policies.leased.limit=1000/1s",
            "ratelimit.policies.leased.lease=10",
            "ratelimit.policies.running.concurrency=10"
        };
        Map<String, OutgoingClient> clients = read(lines);
        ClientPolicyCheck.check(
                clients.values(),
                PolicyLoader.load(Lines.of(lines), List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems)
                        .policies(),
                Lines.of(lines),
                problems);
        assertThat(problems())
                .hasSize(3)
                .anyMatch(line -> line.startsWith("WEIR-235 ratelimit.policies.running.concurrency = 10"))
                .anyMatch(line -> line.startsWith("WEIR-235 ratelimit.policies.calls.count = failure"))
                .anyMatch(line -> line.startsWith("WEIR-235 ratelimit.policies.leased.lease = 10"));
    }

    @Test
    void resolvesKeys() {
        OutgoingCall call = call("partner", "api.example:8443", "/accounts/{id}");
        assertThat(ClientKey.parse("client", resolvers).of(call)).isEqualTo(Identity.of("partner"));
        assertThat(ClientKey.parse("host+path", resolvers).of(call))
                .isEqualTo(Identity.of("api.example:8443").and(Identity.of("/accounts/{id}")));
        assertThat(ClientKey.parse("path", resolvers).of(call("partner", "", null)))
                .isEqualTo(Identity.ANONYMOUS);
        assertThat(ClientKey.parse("account", resolvers).of(call)).isEqualTo(Identity.ANONYMOUS);
        try (LogCapture log = new LogCapture()) {
            ClientKey failing = ClientKey.parse("client + broken", resolvers);
            for (int i = 0; i < 2; i++) {
                assertThat(failing.of(call)).isEqualTo(Identity.of("partner").and(Identity.ANONYMOUS));
            }
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .startsWith("WARNING WEIR-241 Client partner: KeyResolver broken failed.");
        }
    }
}
