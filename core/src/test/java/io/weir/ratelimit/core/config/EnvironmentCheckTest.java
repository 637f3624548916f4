// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EnvironmentCheckTest {
    private final EnvironmentCheck check = new EnvironmentCheck(
            List.of("hello", "api-v1", "Report.create"),
            List.of("Report.create"),
            List.of("partner"),
            List.of(
                    "ratelimit.policies.hello.tiers.gold.limit",
                    "ratelimit.policies.Report.create.tiers.big.concurrency",
                    "ratelimit.policies.hello.costs./api/export"));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT_REDIS_ADDRESS",
                "RATELIMIT_HEALTH_FAIL_WHEN_DEGRADED",
                "RATELIMIT_POLICIES_HELLO_LIMIT",
                "RATELIMIT_POLICIES_API_V1_ON_FAILURE",
                "RATELIMIT_POLICIES__REPORT_CREATE__LIMIT",
                "RATELIMIT_POLICIES__HELLO__KEY",
                "RATELIMIT_POLICIES_HELLO_TIERS_GOLD_LIMIT",
                "RATELIMIT_POLICIES_HELLO_TIERS_GOLD_BURST",
                "RATELIMIT_POLICIES__HELLO__TIERS_GOLD_CONCURRENCY",
                "RATELIMIT_POLICIES__REPORT_CREATE__TIERS_BIG_LIMIT",
                "RATELIMIT_POLICIES_HELLO_COSTS__API_EXPORT",
                "RATELIMIT_COSTS_REPORT_CREATE",
                "RATELIMIT_COSTS__REPORT_CREATE_",
                "RATELIMIT_CLIENTS_PARTNER_RETRY_BUDGET",
            })
    void knowsTheVariablesOfAllProperties(String variable) {
        assertThat(check.unknown(List.of(variable))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "RATELIMIT_REDIS_ADRESS, RATELIMIT_REDIS_ADDRESS",
        "RATELIMIT_INSTANCE, RATELIMIT_INSTANCES",
        "RATELIMIT_POLICIES_HELO_LIMIT, RATELIMIT_POLICIES_HELLO_LIMIT",
        "RATELIMIT_POLICIES_HELLO_LIMITS, RATELIMIT_POLICIES_HELLO_LIMIT",
        "RATELIMIT_POLICIES_REPORT_CREATE_LIMIT, RATELIMIT_POLICIES__REPORT_CREATE__LIMIT",
        "RATELIMIT_COSTS_REPORT_CREAT, RATELIMIT_COSTS_REPORT_CREATE",
        "RATELIMIT_POLICIES_HELLO_TIERS_GLOD_LIMIT, RATELIMIT_POLICIES_HELLO_TIERS_GOLD_LIMIT",
        "RATELIMIT_POLICIES_API_V1_TIERS_GOLD_LIMIT, RATELIMIT_POLICIES_HELLO_TIERS_GOLD_LIMIT",
        "RATELIMIT_CLIENTS_PARTENR_POLICY, RATELIMIT_CLIENTS_PARTNER_POLICY",
        "RATELIMIT_POLICIES_HELLO_COSTS__API_EXPROT, RATELIMIT_POLICIES_HELLO_COSTS__API_EXPORT",
        "RATELIMIT_ZZZZZZZZZZZZZZZZZZ,",
    })
    void findsTheVariableThatWasProbablyMeant(String variable, String meant) {
        assertThat(check.unknown(List.of(variable, "PATH", "ratelimit_x"))).containsExactly(variable);
        assertThat(check.nearest(variable)).isEqualTo(Optional.ofNullable(meant));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RATELIMIT_SERVICE_HOST",
                "RATELIMIT_SERVICE_PORT",
                "RATELIMIT_SERVICE_PORT_HTTP",
                "RATELIMIT_PORT",
                "RATELIMIT_PORT_6379_TCP",
                "RATELIMIT_PORT_6379_TCP_ADDR",
                "RATELIMIT_REDIS_SERVICE_HOST",
                "RATELIMIT_REDIS_PORT_6379_TCP_PROTO",
            })
    void ignoresTheVariablesOfAServiceOfKubernetes(String variable) {
        assertThat(check.unknown(List.of(variable))).isEmpty();
    }

    @Test
    void sortsUnknownVariables() {
        assertThat(check.unknown(List.of("RATELIMIT_B", "RATELIMIT_A"))).containsExactly("RATELIMIT_A", "RATELIMIT_B");
    }
}
