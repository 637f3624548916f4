// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.request;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.MoreExecutors;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/**
 * The server under load beside a service of gRPC that does nothing, in one process with the client. It has no assertion, and no build runs
 * it: {@code mvn test -pl envoy -Dtest=ServerLoad}.
 */
class ServerLoad {
    private static final int WARM_CALLS = 50_000;
    private static final int CALLS = 200_000;
    private static final int AT_ONCE = 64;

    @Test
    void compare() throws Exception {
        try (TestServer server = TestServer.of(
                Map.of("ratelimit.policies.api.limit", "1000000/1s", "ratelimit.policies.api.key", "principal"))) {
            RateLimitServiceGrpc.RateLimitServiceFutureStub limits =
                    RateLimitServiceGrpc.newFutureStub(server.channel());
            HealthGrpc.HealthFutureStub floor = HealthGrpc.newFutureStub(server.channel());
            IntFunction<ListenableFuture<?>> empty = call -> floor.check(HealthCheckRequest.getDefaultInstance());
            IntFunction<ListenableFuture<?>> limited = call -> limits.shouldRateLimit(
                    request("edge", 0, descriptor("policy", "api", "principal", "user-" + call % 1_000)));
            measure(WARM_CALLS, empty);
            measure(WARM_CALLS, limited);
            System.out.println("empty service:      " + measure(CALLS, empty));
            System.out.println("rate limit service: " + measure(CALLS, limited));
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            System.out.println("heap in use: " + (runtime.totalMemory() - runtime.freeMemory()) / 1_000_000 + " MB");
        }
    }

    private static String measure(int calls, IntFunction<ListenableFuture<?>> call) throws InterruptedException {
        long[] nanos = new long[calls];
        Semaphore free = new Semaphore(AT_ONCE);
        long start = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            free.acquire();
            int number = i;
            long sent = System.nanoTime();
            ListenableFuture<?> result = call.apply(number);
            result.addListener(
                    () -> {
                        nanos[number] = System.nanoTime() - sent;
                        free.release();
                    },
                    MoreExecutors.directExecutor());
        }
        free.acquire(AT_ONCE);
        double seconds = (System.nanoTime() - start) / 1e9;
        Arrays.sort(nanos);
        return String.format(
                "%,.0f calls/s, p50 %s, p99 %s",
                calls / seconds, Duration.ofNanos(nanos[calls / 2]), Duration.ofNanos(nanos[calls / 100 * 99]));
    }
}
