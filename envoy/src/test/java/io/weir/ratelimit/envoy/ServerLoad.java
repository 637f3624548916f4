// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.request;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.MoreExecutors;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/**
 * The server under load beside a service of gRPC that does nothing, in one process with the client. It has no assertion, and no build runs
 * it: the part {@code envoy} of the benchmarks' report writes its table into the page.
 */
class ServerLoad {
    private static final Path TABLE = Path.of("target", "server-load.md");
    private static final int ROUNDS = 5;
    private static final int CALLS = 100_000;
    private static final int AT_ONCE = 64;
    private static final int CALLERS = 1_000;
    private static final Map<String, String> POLICY =
            Map.of("ratelimit.policies.api.limit", "1000000/1s", "ratelimit.policies.api.key", "principal");

    /** The calls of one round: their rate, and their latencies in ascending order. */
    private record Round(double rate, long[] nanos) {
        double micros(double share) {
            return nanos[(int) (share * (nanos.length - 1))] / 1e3;
        }
    }

    @Test
    void compare() throws Exception {
        List<String> lines = new ArrayList<>(List.of(
                "| a call | calls/s | of the empty service | p50 | p99 | heap of server and client |",
                "|---|---|---|---|---|---|"));
        lines.addAll(rows("counted in process", POLICY));
        lines.addAll(rows("counted on Redis", TestServer.onRedis(POLICY)));
        Files.write(TABLE, lines);
    }

    private static List<String> rows(String name, Map<String, String> properties) throws Exception {
        try (TestServer server = TestServer.of(properties)) {
            RateLimitServiceGrpc.RateLimitServiceFutureStub limits =
                    RateLimitServiceGrpc.newFutureStub(server.channel());
            HealthGrpc.HealthFutureStub floor = HealthGrpc.newFutureStub(server.channel());
            IntFunction<ListenableFuture<?>> empty = call -> floor.check(HealthCheckRequest.getDefaultInstance());
            IntFunction<ListenableFuture<?>> limited = call -> limits.shouldRateLimit(
                    request("edge", 0, descriptor("policy", "api", "principal", "user-" + call % CALLERS)));
            List<Round> floors = new ArrayList<>();
            List<Round> rounds = new ArrayList<>();
            for (int i = 0; i <= ROUNDS; i++) {
                Round of = measure(empty);
                Round with = measure(limited);
                if (i > 0) { // the first round warms up
                    floors.add(of);
                    rounds.add(with);
                }
            }
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            long heap = (runtime.totalMemory() - runtime.freeMemory()) / 1_000_000;
            double share = median(rounds).rate() / median(floors).rate();
            return List.of(
                    row(name, median(rounds), String.format(Locale.ROOT, "%.2f", share), heap + " MB"),
                    row("empty service, beside it", median(floors), "-", "-"));
        }
    }

    private static Round median(List<Round> rounds) {
        return rounds.stream()
                .sorted((a, b) -> Double.compare(a.rate(), b.rate()))
                .toList()
                .get(rounds.size() / 2);
    }

    private static String row(String name, Round round, String share, String heap) {
        return String.format(
                Locale.ROOT,
                "| %s | %,.0f | %s | %,.0f µs | %,.0f µs | %s |",
                name,
                round.rate(),
                share,
                round.micros(0.5),
                round.micros(0.99),
                heap);
    }

    private static Round measure(IntFunction<ListenableFuture<?>> call) throws InterruptedException {
        long[] nanos = new long[CALLS];
        Semaphore free = new Semaphore(AT_ONCE);
        long start = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
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
        return new Round(CALLS / seconds, nanos);
    }
}
