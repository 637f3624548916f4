// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.hits;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestPorts;
import io.weir.ratelimit.runtime.HostedWeir;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Descriptors that look at a quota and spend nothing, while Redis is away or threads are occupied. */
@Tag("field")
@Timeout(120)
class PeekFailuresTest {
    private static final Map<String, String> EACH_ON_ITS_OWN = Map.of("ratelimit.envoy.all-or-nothing", "false");

    private static Map<String, String> policies(String... modes) {
        Map<String, String> properties = new HashMap<>(Map.of("ratelimit.metrics", "none"));
        for (String mode : modes) {
            properties.put("ratelimit.policies." + mode + ".limit", "1/1h");
            properties.put("ratelimit.policies." + mode + ".on-failure", mode);
        }
        return properties;
    }

    private static TestServer withoutRedis(Map<String, String> properties) throws Exception {
        properties.put("ratelimit.redis.address", "redis://127.0.0.1:" + TestPorts.next());
        return TestServer.cold(properties);
    }

    private static RateLimitDescriptor look(String policies) {
        return hits(0, descriptor("policy", policies));
    }

    private static List<Code> codes(TestServer server, RateLimitDescriptor... descriptors) {
        return server.call("edge", descriptors).getStatusesList().stream()
                .map(DescriptorStatus::getCode)
                .toList();
    }

    @Test
    void theFailureModeDecidesWithoutRedis() throws Exception {
        try (LogCapture log = new LogCapture();
                TestServer server = withoutRedis(policies("open", "local", "sample", "closed"))) {
            for (String mode : List.of("open", "local", "sample")) {
                assertThat(server.call("edge", look(mode)).getOverallCode())
                        .as(mode)
                        .isEqualTo(Code.OK);
            }
            assertThat(server.call("edge", look("closed")).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
            assertThat(server.call("edge", look("open,closed")).getOverallCode())
                    .isEqualTo(Code.OVER_LIMIT);
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-725"));
        }
    }

    @Test
    void theOtherDescriptorsAreDecidedWithoutRedis() throws Exception {
        Map<String, String> properties = policies("open", "local", "closed");
        properties.putAll(EACH_ON_ITS_OWN);
        try (TestServer server = withoutRedis(properties)) {
            RateLimitDescriptor charged = descriptor("policy", "local");
            assertThat(codes(server, look("open"), charged)).containsExactly(Code.OK, Code.OK);
            assertThat(codes(server, look("open"), charged)).containsExactly(Code.OK, Code.OVER_LIMIT);
            assertThat(codes(server, look("closed"), descriptor("policy", "open")))
                    .containsExactly(Code.OVER_LIMIT, Code.OK);
        }
    }

    @Test
    void aPolicyInShadowModeRejectsNothingWithoutRedis() throws Exception {
        Map<String, String> properties = policies("closed");
        properties.put("ratelimit.policies.closed.mode", "shadow");
        try (TestServer server = withoutRedis(properties)) {
            assertThat(server.call("edge", look("closed")).getOverallCode()).isEqualTo(Code.OK);
        }
    }

    @Test
    void theFailureModeDecidesForKeysThatEnforcePercentSelects() throws Exception {
        Map<String, String> properties = policies("closed");
        properties.put("ratelimit.policies.closed.mode", "shadow");
        properties.put("ratelimit.policies.closed.enforce-percent", "100");
        try (TestServer server = withoutRedis(properties)) {
            assertThat(server.call("edge", look("closed")).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
        }
    }

    /** Returns whether a look at each policy is rejected if an executor runs it. */
    private static List<Boolean> rejections(TestServer server, Executor threads) throws Exception {
        HostedWeir weir = server.server().weir();
        JointCalls calls = new JointCalls(weir, TestServer.settings(EACH_ON_ITS_OWN), threads);
        List<JointCalls.Part> parts = Stream.of("open", "closed")
                .map(name -> new Binding.PolicyCost(weir.policies().policies().get(name), 1))
                .map(cost -> new JointCalls.Part(List.of(cost), new DescriptorCall(Map.of()), false, true))
                .toList();
        return calls.decide("edge", parts).get(30, TimeUnit.SECONDS).stream()
                .map(JointCalls.Decided::isRejected)
                .toList();
    }

    @Test
    @Tag("redis")
    void theFailureModeDecidesIfAllThreadsWait() throws Exception {
        try (TestServer server = TestServer.cold(TestServer.onRedis(policies("open", "closed")))) {
            assertThat(rejections(server, Runnable::run)).containsExactly(false, false);
            assertThat(rejections(server, task -> {
                        throw new RejectedExecutionException("full");
                    }))
                    .containsExactly(false, true);
        }
    }

    @Test
    @Tag("redis")
    void theFailureModeDecidesWhatBeginsTooLate() throws Exception {
        Map<String, String> properties = policies("open", "closed");
        properties.put("ratelimit.redis.deadline", "300ms");
        try (TestServer server = TestServer.of(TestServer.onRedis(properties))) {
            assertThat(rejections(server, task -> {
                        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(301);
                        while (System.nanoTime() < end) {
                            Thread.onSpinWait();
                        }
                        task.run();
                    }))
                    .containsExactly(false, true);
        }
    }

    /** With two processors or fewer, the former code had a thread for each look in place of the pool. */
    @Test
    @Tag("redis")
    void aLookNeedsNoThreadOfTheCommonPool() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        List<Runnable> blocked = new ArrayList<>();
        for (int i = 0; i < 2 * ForkJoinPool.getCommonPoolParallelism() + 2; i++) {
            blocked.add(() -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        try (TestServer server = TestServer.cold(TestServer.onRedis(policies("open")))) {
            blocked.forEach(ForkJoinPool.commonPool()::execute);
            assertThat(server.call("edge", look("open")).getOverallCode()).isEqualTo(Code.OK);
        } finally {
            end.countDown();
        }
    }
}
