// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import io.weir.ratelimit.runtime.Weir;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ClientPluginTest {
    private static final CallContext NOBODY = new CallContext() {
        @Override
        public Optional<String> peerAddress() {
            return Optional.empty();
        }

        @Override
        public Optional<String> principal() {
            return Optional.empty();
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.empty();
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    };

    private static OutgoingCall call(int number) {
        return call(number, null);
    }

    private static OutgoingCall call(int number, @Nullable Boolean retry) {
        return new OutgoingCall(
                "partner",
                "partner.example",
                Optional.empty(),
                NOBODY,
                new OutgoingCall.Attempt(number, number, number),
                retry,
                null);
    }

    @Test
    void theServiceLimitsCallsInPlainJava() {
        try (Weir weir = Weir.builder()
                .property("ratelimit.policies.calls.limit", "2/1h")
                .property("ratelimit.clients.partner.policy", "calls")
                .build()) {
            OutgoingCalls calls = weir.plugin(ClientPlugin.class).calls();
            calls.begin(call(1));
            calls.begin(call(2));
            assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> calls.begin(call(3)));
        }
    }

    @Test
    void instancesShareTheBudgetOfRetries() {
        try (Weir weir = Weir.builder()
                .property("ratelimit.instances", "10000")
                .property("ratelimit.policies.calls.limit", "100/1h")
                .property("ratelimit.clients.partner.policy", "calls")
                .build()) {
            OutgoingCalls calls = weir.plugin(ClientPlugin.class).calls();
            calls.begin(call(1, true));
            assertThatExceptionOfType(RateLimitExceededException.class)
                    .isThrownBy(() -> calls.begin(call(2, true)))
                    .withMessageContaining("retry budget of client partner");
        }
    }

    @Test
    void problemsAreReportedWithAllOthers() {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> Weir.builder()
                        .property("ratelimit.policies.calls.limit", "many")
                        .property("ratelimit.clients.partner.policy", "calls")
                        .property("ratelimit.clients.partner.keyy", "host")
                        .property("ratelimit.clients.bank.policy", "slow")
                        .property("ratelimit.policies.slow.limit", "2/1h")
                        .property("ratelimit.policies.slow.count", "success")
                        .build())
                .satisfies(invalid -> assertThat(invalid.problems())
                        .extracting(ConfigurationProblem::id, ConfigurationProblem::place)
                        .containsExactlyInAnyOrder(
                                tuple("WEIR-230", "ratelimit.clients.partner.keyy"),
                                tuple("WEIR-111", "ratelimit.policies.calls.limit"),
                                tuple("WEIR-235", "ratelimit.policies.slow.count")));
    }
}
