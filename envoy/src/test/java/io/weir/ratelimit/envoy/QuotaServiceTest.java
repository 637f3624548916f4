// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.rate_limit_quota.v3.BucketId;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse.BucketAction;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports.BucketQuotaUsage;
import io.envoyproxy.envoy.type.v3.RateLimitStrategy.BlanketRule;
import io.envoyproxy.envoy.type.v3.TokenBucket;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.runtime.HostedWeir;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The quota service: assignments are leases, which together never exceed the limit. */
@Timeout(180)
class QuotaServiceTest {
    private static final Map<String, String> ANN = Map.of("policy", "api", "principal", "ann");
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private final List<QuotaProxy> proxies = new ArrayList<>();
    private TestServer server;

    @AfterEach
    void stop() {
        proxies.forEach(QuotaProxy::close);
        server.close();
    }

    private void start(String limit, String... more) throws Exception {
        Map<String, String> properties =
                new HashMap<>(Map.of("ratelimit.policies.api.limit", limit, "ratelimit.policies.api.key", "principal"));
        for (int i = 0; i < more.length; i += 2) {
            properties.put("ratelimit." + more[i], more[i + 1]);
        }
        server = TestServer.of(properties);
    }

    private QuotaProxy proxy(Map<String, String> bucket) {
        QuotaProxy proxy = new QuotaProxy(server.channel(), "edge", bucket);
        proxies.add(proxy);
        return proxy;
    }

    private long remaining() {
        return server.call("edge", TestServer.hits(0, descriptor("policy", "api", "principal", "ann")))
                .getStatuses(0)
                .getLimitRemaining();
    }

    private static TokenBucket tokens(BucketAction action) {
        assertThat(action.getQuotaAssignmentAction().getRateLimitStrategy().hasTokenBucket())
                .as("%s", action)
                .isTrue();
        return action.getQuotaAssignmentAction().getRateLimitStrategy().getTokenBucket();
    }

    private static boolean isRule(BucketAction action, BlanketRule rule) {
        return action.getQuotaAssignmentAction().getRateLimitStrategy().hasBlanketRule()
                && action.getQuotaAssignmentAction().getRateLimitStrategy().getBlanketRule() == rule;
    }

    @Test
    void anAssignmentIsChargedBeforeTheProxyHasIt() throws Exception {
        start("100/1h");
        QuotaProxy proxy = proxy(ANN);
        TokenBucket first = tokens(proxy.exchange(0));
        assertThat(remaining()).isEqualTo(100 - first.getMaxTokens());
        // A bucket of a proxy fills steadily, so a lease must not gain a permit before it ends.
        assertThat(first.getTokensPerFill().getValue()).isEqualTo(1);
        assertThat(first.getFillInterval().getSeconds())
                .isGreaterThan(Duration.ofDays(300).toSeconds());
        TokenBucket second = tokens(proxy.exchange(0));
        assertThat(second.getFillInterval()).isNotEqualTo(first.getFillInterval());
    }

    @Test
    void theSharesFollowTheDemand() throws Exception {
        start("1000/1h");
        QuotaProxy busy = proxy(ANN);
        QuotaProxy idle = proxy(ANN);
        busy.exchange(0);
        idle.exchange(0);
        busy.requests(100);
        idle.requests(1);
        BucketAction action = busy.exchange(1_000);
        assertThat(tokens(action).getMaxTokens()).isGreaterThan(100);
        assertThat(action.getQuotaAssignmentAction().getAssignmentTimeToLive().getSeconds())
                .isEqualTo(2);
        assertThat(tokens(idle.exchange(1_000)).getMaxTokens()).isLessThan(10);
    }

    @Test
    void theLastPermitsAreAssignedAndThenNone() throws Exception {
        start("13/1h");
        QuotaProxy one = proxy(ANN);
        QuotaProxy other = proxy(ANN);
        assertThat(tokens(one.exchange(0)).getMaxTokens()).isEqualTo(10);
        assertThat(tokens(other.exchange(0)).getMaxTokens()).isEqualTo(3);
        assertThat(isRule(one.exchange(0), BlanketRule.DENY_ALL)).isTrue();
        assertThat(remaining()).isZero();
    }

    @Test
    void proxiesAndApplicationsTogetherNeverExceedTheLimit() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("seed of the proxies: " + seed);
        Random random = new Random(seed);
        start("2000/1h");
        for (int i = 0; i < 5; i++) {
            proxy(ANN);
        }
        long allowed = 0;
        for (int step = 0; step < 600; step++) {
            QuotaProxy proxy = proxies.get(random.nextInt(proxies.size()));
            switch (random.nextInt(6)) {
                case 0 -> proxy.report(100 + random.nextInt(3_000));
                case 1 -> proxy.exchange(100 + random.nextInt(3_000));
                case 2 ->
                    allowed += server.call("edge", descriptor("policy", "api", "principal", "ann"))
                                            .getOverallCode()
                                            .getNumber()
                                    == 1
                            ? 1
                            : 0;
                case 3 -> {
                    if (random.nextInt(10) == 0) {
                        proxy.close();
                        proxies.remove(proxy);
                        proxy(ANN);
                    }
                }
                default -> allowed += proxy.requests(random.nextInt(30));
            }
        }
        assertThat(allowed).as("seed %d", seed).isBetween(1L, 2_000L);
    }

    @Test
    void permitsThatAProxyHasNotUsedReturnAfterTheLease() throws Exception {
        start("100/1h");
        QuotaProxy proxy = proxy(ANN);
        assertThat(proxy.requests(40)).isZero();
        assertThat(tokens(proxy.exchange(100)).getMaxTokens()).isEqualTo(100);
        assertThat(proxy.requests(4)).isEqualTo(4);
        Await.until("the permits of the first lease", SOON, Duration.ofSeconds(1), () -> {
            proxy.exchange(100);
            return remaining() >= 90;
        });
        assertThat(remaining()).isLessThanOrEqualTo(96);
    }

    @Test
    void theLeasesOfAProxyThatDiesStayCharged() throws Exception {
        start("100/1h");
        QuotaProxy proxy = proxy(ANN);
        long charged = tokens(proxy.exchange(0)).getMaxTokens();
        proxy.close();
        QuotaProxy next = proxy(ANN);
        charged += tokens(next.exchange(0)).getMaxTokens();
        next.end();
        assertThat(remaining()).isEqualTo(100 - charged);
    }

    @Test
    void aChangedPolicyIsPushed() throws Exception {
        Path file = Files.writeString(folder.resolve("edge.yaml"), rules(100));
        server = TestServer.of(Map.of("ratelimit.envoy.config", file.toString(), "ratelimit.reload-interval", "1h"));
        QuotaProxy proxy = proxy(Map.of("user", "ann"));
        assertThat(tokens(proxy.exchange(0)).getMaxTokens()).isEqualTo(10);
        int before = proxy.actions();
        Files.writeString(file, rules(0));
        server.server().weir().reload().run();
        Await.until("a push", SOON, () -> proxy.actions() > before);
        assertThat(isRule(proxy.action(), BlanketRule.DENY_ALL)).isTrue();
        Files.writeString(file, "domain: edge\ndescriptors:\n  - { key: other, rate_limit: { unlimited: true } }\n");
        server.server().weir().reload().run();
        Await.until("the end of the bucket", SOON, () -> proxy.action().hasAbandonAction());
    }

    private static String rules(int requests) {
        return "domain: edge\ndescriptors:\n  - { key: user, rate_limit: { unit: year, requests_per_unit: " + requests
                + " } }\n";
    }

    @Test
    void aLeaseEndsWithItsWindow() throws Exception {
        start("100/1s", "policies.api.algorithm", "fixed-window");
        BucketAction action = proxy(ANN).exchange(5_000);
        assertThat(action.getQuotaAssignmentAction().getAssignmentTimeToLive().getSeconds())
                .isLessThanOrEqualTo(1);
    }

    @Test
    void aLeaseOfAnotherAlgorithmIsAtMostHalfAsLongAsItsWindow() throws Exception {
        start("100/1s", "policies.api.algorithm", "sliding-window");
        com.google.protobuf.Duration length =
                proxy(ANN).exchange(5_000).getQuotaAssignmentAction().getAssignmentTimeToLive();
        assertThat(Duration.ofSeconds(length.getSeconds(), length.getNanos())).isEqualTo(Duration.ofMillis(500));
    }

    @Test
    void aLeaseThatIsTooLongCausesNoPenalty() throws Exception {
        start("15/1h", "policies.api.penalty.after", "1/1h", "policies.api.penalty.for", "1h");
        assertThat(tokens(proxy(ANN).exchange(0)).getMaxTokens()).isEqualTo(10);
        assertThat(tokens(proxy(ANN).exchange(0)).getMaxTokens()).isEqualTo(5);
        assertThat(isRule(proxy(ANN).exchange(0), BlanketRule.DENY_ALL)).isTrue();
        HostedWeir weir = server.server().weir();
        assertThat(weir.engine()
                        .keys()
                        .peek(weir.policies().policies().get("api"), new DescriptorCall(Map.of("principal", "ann"))))
                .noneMatch(Quota::blocked);
    }

    @Test
    void aStopEndsTheStreams() throws Exception {
        start("100/1h", "envoy.stop-timeout", "1h");
        QuotaProxy proxy = proxy(ANN);
        proxy.exchange(0);
        server.server().close();
        Await.until("the end of the stream", SOON, proxy::isEnded);
    }

    /** The side of the server of a stream, whose client does not read. */
    private static final class Unread extends ServerCallStreamObserver<RateLimitQuotaResponse> {
        private Runnable ready = () -> {};
        private boolean isReady;
        private int requested;
        private int responses;

        @Override
        public boolean isReady() {
            return isReady;
        }

        @Override
        public void setOnReadyHandler(Runnable handler) {
            ready = handler;
        }

        @Override
        public void request(int count) {
            requested += count;
        }

        @Override
        public void onNext(RateLimitQuotaResponse response) {
            responses++;
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public void setOnCancelHandler(Runnable handler) {}

        @Override
        public void setCompression(String compression) {}

        @Override
        public void disableAutoInboundFlowControl() {}

        @Override
        public void disableAutoRequest() {}

        @Override
        public void setMessageCompression(boolean enabled) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
    }

    @Test
    void aProxyThatDoesNotReadSendsNoFurtherReports() throws Exception {
        start("100/1h");
        Unread call = new Unread();
        StreamObserver<RateLimitQuotaUsageReports> reports =
                new QuotaService(server.server().weir(), new EnvoyPlugin()).streamRateLimitQuotas(call);
        assertThat(call.requested).isEqualTo(1);
        BucketQuotaUsage usage = BucketQuotaUsage.newBuilder()
                .setBucketId(BucketId.newBuilder().putAllBucket(ANN))
                .build();
        reports.onNext(RateLimitQuotaUsageReports.newBuilder()
                .setDomain("edge")
                .addAllBucketQuotaUsages(Collections.nCopies(1_000, usage))
                .build());
        // A report names a bucket once.
        assertThat(call.responses).isEqualTo(1);
        assertThat(call.requested).isEqualTo(1);
        call.isReady = true;
        call.ready.run();
        assertThat(call.requested).isEqualTo(2);
    }

    @Test
    void aStreamHasABoundedNumberOfBuckets() throws Exception {
        start("100/1h", "enabled", "false");
        try (LogCapture log = new LogCapture()) {
            Unread call = new Unread();
            StreamObserver<RateLimitQuotaUsageReports> reports =
                    new QuotaService(server.server().weir(), new EnvoyPlugin()).streamRateLimitQuotas(call);
            RateLimitQuotaUsageReports.Builder report =
                    RateLimitQuotaUsageReports.newBuilder().setDomain("edge");
            for (int i = 0; i < QuotaStream.MAX_BUCKETS + 2; i++) {
                report.addBucketQuotaUsages(BucketQuotaUsage.newBuilder()
                        .setBucketId(
                                BucketId.newBuilder().putBucket("policy", "api").putBucket("principal", "p" + i)));
            }
            reports.onNext(report.build());
            assertThat(call.responses).isEqualTo(QuotaStream.MAX_BUCKETS + 2);
            assertThat(log.lines().stream().filter(line -> line.contains("WEIR-732")))
                    .hasSize(1);
        }
    }

    @Test
    void aLargeBucketIsAbandoned() throws Exception {
        start("100/1h");
        String large = "p".repeat(QuotaStream.MAX_BUCKET_BYTES);
        assertThat(proxy(Map.of("policy", "api", "principal", large))
                        .exchange(0)
                        .hasAbandonAction())
                .isTrue();
    }

    @Test
    void requestsBeforeALimitAreFree() throws Exception {
        Path file = Files.writeString(
                folder.resolve("edge.yaml"),
                "domain: edge\ndescriptors:\n  - { key: user, rate_limit: { unlimited: true } }\n"
                        + "  - { key: a, descriptors: [ { key: user, rate_limit: { unit: day, requests_per_unit: 9 } } ] }\n");
        server = TestServer.of(Map.of("ratelimit.envoy.config", file.toString(), "ratelimit.reload-interval", "1h"));
        QuotaProxy proxy = proxy(Map.of("user", "ann"));
        assertThat(isRule(proxy.exchange(0), BlanketRule.ALLOW_ALL)).isTrue();
        assertThat(proxy.requests(5_000)).isEqualTo(5_000);
        proxy.exchange(100);
        int before = proxy.actions();
        Files.writeString(file, rules(100));
        server.server().weir().reload().run();
        Await.until("a push", SOON, () -> proxy.actions() > before);
        long leased = tokens(proxy.action()).getMaxTokens();
        assertThat(leased).isEqualTo(100);
        Await.until("the end of the lease", SOON, Duration.ofSeconds(1), () -> {
            proxy.exchange(100);
            return proxy.tokens() > 0;
        });
    }

    @Test
    void aBucketWithoutALimitIsAbandonedOrOpen() throws Exception {
        try (LogCapture log = new LogCapture()) {
            start("100/1h", "bypass.addresses", "192.0.2.0/24");
            assertThat(proxy(Map.of("policy", "none")).exchange(0).hasAbandonAction())
                    .isTrue();
            assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-722"));
            assertThat(isRule(
                            proxy(Map.of("policy", "api", "remote_address", "192.0.2.1"))
                                    .exchange(0),
                            BlanketRule.ALLOW_ALL))
                    .isTrue();
        }
    }

    @Test
    void shadowModeRejectsNothingAndChargesTheReports() throws Exception {
        start("20/1h", "policies.api.mode", "shadow");
        QuotaProxy proxy = proxy(ANN);
        assertThat(isRule(proxy.exchange(0), BlanketRule.ALLOW_ALL)).isTrue();
        assertThat(proxy.requests(50)).isEqualTo(50);
    }

    @Test
    void aKeyThatEnforcePercentSelectsHasLeases() throws Exception {
        start("13/1h", "policies.api.mode", "shadow", "policies.api.enforce-percent", "100");
        QuotaProxy proxy = proxy(ANN);
        assertThat(tokens(proxy.exchange(0)).getMaxTokens()).isEqualTo(10);
        assertThat(tokens(proxy.exchange(0)).getMaxTokens()).isEqualTo(3);
        assertThat(isRule(proxy.exchange(0), BlanketRule.DENY_ALL)).isTrue();
    }

    @Test
    void aStreamWithoutADomainIsAnError() throws Exception {
        start("20/1h");
        QuotaProxy proxy = new QuotaProxy(server.channel(), "", ANN);
        proxies.add(proxy);
        proxy.report(0);
        Await.until("an error", SOON, () -> proxy.failure() != null);
        assertThat(proxy.failure()).hasMessageContaining("INVALID_ARGUMENT");
    }
}
