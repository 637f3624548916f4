// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.net.URI;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The policy contracts on Quarkus. */
class QuarkusPoliciesTest
        implements PathContract, OutcomeContract, SettlementContract, CallerContract, QuotaResourceContract {
    @RegisterExtension
    static final QuarkusProgram PROGRAM = new QuarkusProgram(
            "policies",
            Map.of(
                    // Proactive authentication answers a wrong password before any filter.
                    "quarkus.http.auth.proactive", "false",
                    "quarkus.http.auth.basic", "true",
                    "quarkus.security.users.embedded.enabled", "true",
                    "quarkus.security.users.embedded.plain-text", "true",
                    "quarkus.security.users.embedded.users.ann", "ann-password",
                    "quarkus.security.users.embedded.roles.ann", "user"));

    private final String client = UUID.randomUUID().toString();

    @Override
    public URI base() {
        return PROGRAM.base();
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
