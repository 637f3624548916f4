// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.ListenableFuture;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that Redis holds: during a stop, and with a short timeout at the proxy. */
@Tag("redis")
@Timeout(180)
class StopTest {
    private static final RateLimitDescriptor API = descriptor("policy", "api");
    private static final Duration SOON = Duration.ofSeconds(60);

    private final RedisProcess redis = RedisProcess.started();
    private final FaultProxy proxy = FaultProxy.inFrontOf(redis);

    @AfterEach
    void stop() {
        proxy.close();
        redis.close();
    }

    private TestServer start(String stopTimeout) throws Exception {
        return TestServer.of(Map.of(
                "ratelimit.redis.address", proxy.address(),
                "ratelimit.redis.deadline", "30s",
                "ratelimit.metrics", "none",
                "ratelimit.envoy.stop-timeout", stopTimeout,
                "ratelimit.policies.api.limit", "9/1h"));
    }

    /** Starts a call that Redis has received and not answered. */
    private ListenableFuture<RateLimitResponse> held(TestServer server) {
        assertThat(server.call("edge", API).getOverallCode()).isEqualTo(Code.OK);
        long before = proxy.scripts();
        proxy.hold();
        ListenableFuture<RateLimitResponse> call =
                RateLimitServiceGrpc.newFutureStub(server.channel()).shouldRateLimit(request("edge", 0, API));
        Await.until("the call is at Redis", SOON, () -> proxy.scripts() > before);
        return call;
    }

    private static Thread stopping(TestServer server) {
        Thread stop = new Thread(server.server()::close, "stop");
        stop.start();
        Await.until("the server waits for its calls", SOON, () -> stop.getState() == Thread.State.TIMED_WAITING);
        return stop;
    }

    @Test
    void aRunningCallEndsBeforeTheServerStops() throws Exception {
        try (TestServer server = start("60s")) {
            ListenableFuture<RateLimitResponse> call = held(server);
            Thread stop = stopping(server);
            assertThat(call.isDone()).isFalse();
            proxy.forward();
            assertThat(call.get(60, TimeUnit.SECONDS).getOverallCode()).isEqualTo(Code.OK);
            stop.join(60_000);
            assertThat(stop.isAlive()).isFalse();
        }
    }

    @Test
    void aStopDoesNotWaitLongerThanItsTimeout() throws Exception {
        try (TestServer server = start("100ms")) {
            ListenableFuture<RateLimitResponse> call = held(server);
            server.server().close();
            assertThatThrownBy(() -> call.get(60, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
        }
    }

    @Test
    void aTimeoutOfTheProxyBelowTheDeadlineIsReportedOnce() throws Exception {
        try (LogCapture log = new LogCapture();
                TestServer server = start("1s")) {
            server.client().withDeadlineAfter(90, TimeUnit.SECONDS).shouldRateLimit(request("edge", 0, API));
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-724"));
            for (int i = 0; i < 2; i++) {
                server.client().withDeadlineAfter(20, TimeUnit.SECONDS).shouldRateLimit(request("edge", 0, API));
            }
            assertThat(log.lines().stream()
                            .filter(line -> line.contains("WEIR-724"))
                            .toList())
                    .hasSize(1)
                    .allMatch(line -> line.contains("30000 ms"));
        }
    }
}
