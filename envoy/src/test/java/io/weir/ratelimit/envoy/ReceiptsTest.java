// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.runtime.FakeHttpCall;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.runtime.Requests;
import io.weir.ratelimit.spi.CallContext;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A request that the edge has charged is paid in the application, once, and the application can settle it. */
@Tag("redis")
@Timeout(180)
class ReceiptsTest {
    private static final RateLimitDescriptor ANN = descriptor("policy", "api,tokens", "principal", "ann");

    private final Map<String, String> properties = TestServer.onRedis(Map.of(
            "ratelimit.receipts", "true",
            "ratelimit.metrics", "none",
            "ratelimit.policies.api.limit", "10/1h",
            "ratelimit.policies.api.key", "principal",
            "ratelimit.policies.tokens.limit", "1000/1h"));

    private TestServer edge;
    private TestServer host;
    private Application application;

    @BeforeEach
    void start() throws Exception {
        properties.put("ratelimit.policies.tokens.key", "principal");
        edge = TestServer.of(properties);
        properties.put("ratelimit.policies.api.paths", "/*");
        host = TestServer.of(properties);
        application = new Application();
    }

    @AfterEach
    void stop() {
        edge.close();
        host.close();
    }

    /** A host of the application, whose requests enter its gate. */
    private final class Application implements Requests {
        private final RateLimitGate gate = host.server().weir().gate(this);
        private @Nullable RequestState current;

        boolean allows(String... receipts) throws Exception {
            return allows("ann", receipts);
        }

        boolean allows(String principal, String[] receipts) throws Exception {
            current = null;
            FakeHttpCall call =
                    new FakeHttpCall("/orders").by(principal).with(HostedWeir.RECEIPT_FIELD, List.of(receipts));
            return gate.enter(call, String.class, FakeHttpCall.METHOD)
                    .decision()
                    .allowed();
        }

        void settle(long tokens) {
            gate.charges().settle("tokens", tokens);
        }

        @Override
        public RequestState start(CallContext caller, RateLimitGate any) {
            current = new RequestState(caller);
            return current;
        }

        @Override
        public @Nullable RequestState current(RateLimitGate any) {
            return current;
        }

        @Override
        public CallContext withoutRequest(@Nullable Object @Nullable [] arguments) {
            return CallContext.NONE;
        }

        @Override
        public boolean hold(RequestState request, Runnable releaser) {
            return false;
        }
    }

    private static String receipt(RateLimitResponse response) {
        return response.getRequestHeadersToAddList().stream()
                .filter(field -> field.getKey().equals(HostedWeir.RECEIPT_FIELD))
                .map(field -> field.getValue())
                .findFirst()
                .orElse("");
    }

    private String charged(int cost) {
        return receipt(edge.client().shouldRateLimit(request("edge", cost, ANN)));
    }

    private long remaining(String policy) {
        return edge.call("edge", TestServer.hits(0, descriptor("policy", policy, "principal", "ann")))
                .getStatuses(0)
                .getLimitRemaining();
    }

    @Test
    void aRequestPaysOnce() throws Exception {
        String receipt = charged(1);
        assertThat(receipt).isNotEmpty();
        assertThat(application.allows(receipt)).isTrue();
        assertThat(remaining("api")).isEqualTo(9);
        assertThat(application.allows()).isTrue();
        assertThat(remaining("api")).isEqualTo(8);
    }

    @Test
    void anotherKeyPaysForItself() throws Exception {
        String receipt = charged(1);
        assertThat(application.allows("bob", new String[] {receipt})).isTrue();
        assertThat(edge.call("edge", TestServer.hits(0, descriptor("policy", "api", "principal", "bob")))
                        .getStatuses(0)
                        .getLimitRemaining())
                .isEqualTo(9);
        assertThat(application.allows(receipt)).isTrue();
        assertThat(remaining("api")).isEqualTo(9);
    }

    @Test
    void aReplayedOrForgedReceiptPaysNothingAndIsReported() throws Exception {
        try (LogCapture log = new LogCapture()) {
            String receipt = charged(1);
            assertThat(application.allows(receipt)).isTrue();
            assertThat(application.allows(receipt)).isTrue();
            assertThat(remaining("api")).isEqualTo(8);
            assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-731") && line.contains("replayed"));
            assertThat(application.allows(receipt + "AA")).isTrue();
            assertThat(remaining("api")).isEqualTo(7);
        }
    }

    @Test
    void theApplicationSettlesWhatTheEdgeHasReserved() throws Exception {
        String receipt = charged(5);
        assertThat(remaining("tokens")).isEqualTo(995);
        assertThat(application.allows(receipt)).isTrue();
        application.settle(2);
        assertThat(remaining("tokens")).isEqualTo(998);
        receipt = charged(2);
        assertThat(application.allows(receipt)).isTrue();
        application.settle(102);
        assertThat(remaining("tokens")).isEqualTo(896);
    }

    @Test
    void theApplicationRefundsWhatTheEdgeHasCharged() throws Exception {
        assertThat(application.allows(charged(5))).isTrue();
        application.settle(0);
        assertThat(remaining("tokens")).isEqualTo(1_000);
        application.settle(0);
        assertThat(remaining("tokens")).isEqualTo(1_000);
    }

    @Test
    void aRejectedRequestHasNoReceipt() {
        assertThat(charged(11)).isEmpty();
        assertThat(charged(10)).isNotEmpty();
    }

    @Test
    void receiptsNeedASecret() {
        properties.remove("ratelimit.key-secret");
        assertThatThrownBy(() -> TestServer.cold(properties))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("WEIR-730");
    }
}
