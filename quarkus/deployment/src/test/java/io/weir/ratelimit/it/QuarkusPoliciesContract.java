// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.net.URI;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

/** The policy contracts on Quarkus. */
abstract class QuarkusPoliciesContract
        implements PathContract, OutcomeContract, SettlementContract, CallerContract, QuotaResourceContract {
    private final QuarkusProgram program;
    private final String client = UUID.randomUUID().toString();

    QuarkusPoliciesContract(QuarkusProgram program) {
        this.program = program;
    }

    static QuarkusProgram program() {
        return new QuarkusProgram(
                "policies",
                Map.of(
                        // Proactive authentication answers a wrong password before any filter.
                        "quarkus.http.auth.proactive", "false",
                        "quarkus.http.auth.basic", "true",
                        "quarkus.security.users.embedded.enabled", "true",
                        "quarkus.security.users.embedded.plain-text", "true",
                        "quarkus.security.users.embedded.users.ann", "ann-password",
                        "quarkus.security.users.embedded.roles.ann", "user"));
    }

    @Override
    public URI base() {
        return program.base();
    }

    @Override
    public String client() {
        return client;
    }

    @Override
    public boolean answersADisconnectedClient() {
        return false;
    }

    @Override
    @Disabled("Quarkus ignores the base URI that a filter sets, and answers 404")
    @Test
    public void prefixOfTheClientDoesNotChangeTheRule(String prefix) {}
}
