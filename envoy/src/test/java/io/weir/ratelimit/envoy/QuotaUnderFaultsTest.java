// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.StatusRuntimeException;
import io.weir.nemesis.check.LimitPromise;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Proxies with leases and callers of the rate limit service on two servers, while Redis is stopped, replies are lost, proxies die and
 * servers stop. The checker of the nemesis decides whether all together have kept the limit.
 */
@Tag("fault")
@Tag("ci")
@Timeout(180)
class QuotaUnderFaultsTest {
    private static final Duration WINDOW = Duration.ofHours(1);
    private static final Duration DEADLINE = Duration.ofMillis(250);
    private static final int LIMIT = 600;
    private static final int SERVERS = 2;
    private static final int PROXIES = 4;
    private static final Duration QUIET = Duration.ofSeconds(4);

    /** One proxy dies, one server stops, and the others are faults of Redis and the network. */
    private static final int FAULTS = 14;

    private static final Map<String, String> ANN = Map.of("policy", "api", "principal", "ann");

    private final long seed = Long.getLong("weir.test.seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final RedisProcess redis = RedisProcess.started();
    private final List<FaultProxy> ways = new ArrayList<>();
    private final List<TestServer> servers = new ArrayList<>();
    private final List<QuotaProxy> proxies = new ArrayList<>();
    private final List<Operation> operations = new ArrayList<>();
    private final long[] reported = new long[PROXIES];

    @BeforeEach
    void start() throws Exception {
        for (int i = 0; i < SERVERS; i++) {
            ways.add(FaultProxy.inFrontOf(redis));
            servers.add(server(i));
        }
        for (int i = 0; i < PROXIES; i++) {
            proxies.add(proxy(i));
            reported[i] = System.nanoTime();
        }
    }

    @AfterEach
    void stop() {
        proxies.forEach(QuotaProxy::close);
        servers.forEach(TestServer::close);
        ways.forEach(FaultProxy::close);
        redis.close();
    }

    private TestServer server(int number) throws Exception {
        Map<String, String> properties = new HashMap<>(Map.of(
                "ratelimit.policies.api.limit", LIMIT + "/" + WINDOW.toHours() + "h",
                "ratelimit.policies.api.algorithm", "sliding-log",
                "ratelimit.policies.api.key", "principal",
                "ratelimit.policies.api.on-failure", "closed",
                "ratelimit.redis.address", ways.get(number).address(),
                "ratelimit.redis.deadline", DEADLINE.toMillis() + "ms",
                "ratelimit.key-secret", "0123456789abcdef",
                "ratelimit.namespace", "quota"));
        return TestServer.of(properties);
    }

    private QuotaProxy proxy(int number) {
        return new QuotaProxy(servers.get(number % SERVERS).channel(), "edge", ANN).expiring();
    }

    /** Records what a proxy or a server allows. */
    private void allow(int instance, long requests, long start) {
        if (requests > 0) {
            operations.add(new Operation(
                    operations.size() + 1L,
                    instance,
                    Kind.ACQUIRE,
                    "api",
                    "ann",
                    requests,
                    0,
                    start,
                    System.nanoTime(),
                    Outcome.ALLOWED,
                    0,
                    0,
                    0));
        }
    }

    private void step() throws Exception {
        int number = random.nextInt(PROXIES);
        QuotaProxy proxy = proxies.get(number);
        long start = System.nanoTime();
        switch (random.nextInt(8)) {
            case 0 -> report(number);
            case 2 -> allow(number, call(number % SERVERS), start);
            case 3 -> Thread.sleep(random.nextInt(30)); // the time of assignments, faults and leases
            default -> allow(number, proxy.requests(random.nextInt(5)), start);
        }
    }

    private long used() {
        return operations.stream().mapToLong(Operation::amount).sum();
    }

    private long call(int server) {
        try {
            return servers.get(server)
                                    .call("edge", descriptor("policy", "api", "principal", "ann"))
                                    .getOverallCode()
                                    .getNumber()
                            == 1
                    ? 1
                    : 0;
        } catch (StatusRuntimeException e) {
            return 0; // the server decides without Redis
        }
    }

    private void report(int number) {
        long now = System.nanoTime();
        proxies.get(number).report((int) TimeUnit.NANOSECONDS.toMillis(now - reported[number]) + 1);
        reported[number] = now;
    }

    private void fault(int kind) throws Exception {
        int number = random.nextInt(SERVERS);
        switch (kind) {
            case 0 -> {
                int dead = random.nextInt(PROXIES);
                proxies.get(dead).close();
                proxies.set(dead, proxy(dead));
            }
            case 1 -> {
                servers.get(number).close();
                servers.set(number, server(number));
                for (int i = number; i < PROXIES; i += SERVERS) {
                    proxies.set(i, proxy(i));
                }
            }
            default -> {
                switch (kind % 4) {
                    case 0 -> during(redis::pause, redis::resume);
                    case 1 -> during(ways.get(number)::hold, ways.get(number)::forward);
                    case 2 -> during(ways.get(number)::loseReplies, ways.get(number)::forward);
                    default -> during(ways.get(number)::resetConnections, ways.get(number)::forward);
                }
            }
        }
    }

    private void during(Runnable begin, Runnable end) throws Exception {
        begin.run();
        try {
            for (int i = 0; i < 40; i++) {
                step();
            }
        } finally {
            end.run();
        }
    }

    @Test
    void proxiesAndCallersKeepTheLimit() throws Exception {
        System.out.printf("quota service under faults: -Dweir.test.seed=%d%n", seed);
        long begin = System.nanoTime();
        List<Integer> kinds = IntStream.range(0, FAULTS).boxed().collect(Collectors.toCollection(ArrayList::new));
        Collections.shuffle(kinds, random);
        for (int kind : kinds) {
            for (int i = 0; i < 40; i++) {
                step();
            }
            fault(kind);
        }
        drain();
        Policy policy = new Policy("api", Form.SLIDING_LOG, LIMIT, WINDOW, 0, FailureMode.CLOSED, Map.of());
        History history = new History(seed, PROXIES, DEADLINE, Map.of("api", policy), operations, List.of(), begin);
        long used = used();
        System.out.printf("%d requests allowed in %d operations%n", used, operations.size());
        assertThat(new LimitPromise().check(history)).as("seed %d", seed).isEmpty();
        assertThat(used).as("seed %d", seed).isBetween(1L, LIMIT - remaining());
    }

    /**
     * Uses all permits that the proxies still get, so that nothing hides a permit that is used twice. The permits of a lease return two
     * seconds after its end.
     */
    private void drain() throws InterruptedException {
        long latest = System.nanoTime();
        while (System.nanoTime() - latest < QUIET.toNanos() && used() <= LIMIT) {
            for (int i = 0; i < PROXIES; i++) {
                long start = System.nanoTime();
                long requests =
                        proxies.get(i).requests(Math.max(1, proxies.get(i).tokens()));
                allow(i, requests, start);
                latest = requests > 0 ? System.nanoTime() : latest;
                report(i);
            }
            Thread.sleep(20); // the proxies receive leases meanwhile
        }
    }

    /** Returns the remaining permits when Redis decides again. */
    private long remaining() {
        AtomicLong remaining = new AtomicLong(-1);
        Await.until("a decision of Redis", Duration.ofSeconds(60), () -> {
            try {
                remaining.set(servers.get(0)
                        .call("edge", TestServer.hits(0, descriptor("policy", "api", "principal", "ann")))
                        .getStatuses(0)
                        .getLimitRemaining());
                return true;
            } catch (StatusRuntimeException e) {
                return false; // the server decides without Redis
            }
        });
        return remaining.get();
    }
}
