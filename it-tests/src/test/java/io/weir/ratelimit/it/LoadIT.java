// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Load on the example with short windows, while Redis restarts, and while it is paused every other second.
 *
 * <p>The failure mode of {@code compute} is open. That of {@code hello} is local, with half of the shared limit. {@code
 * -Dweir.test.load=PT3M} sets the duration; the default is 20 seconds, or ten minutes in a full run.
 */
@Tag("server")
@Tag("ci")
class LoadIT {
    private static final boolean FULL = Boolean.getBoolean("weir.test.full");
    private static final Duration LONG = Duration.parse(System.getProperty("weir.test.load", FULL ? "PT10M" : "PT20S"));
    private static final Duration FLAPPING = FULL ? Duration.ofMinutes(2) : Duration.ofSeconds(15);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int PER_SECOND = Integer.getInteger("weir.test.load.rate", 1_000);
    private static final int THREADS = 8;

    /** The number of clients, which is small so that each client exceeds its limit. */
    private static final int CLIENTS = 10;

    /** The maximum number of connections to Redis, which is the default of Redisson. */
    private static final int POOL = 64;

    /** The start of each record in the log of the server. */
    private static final String RECORD = "(?m)^\\[[A-Z]+ *]";

    private static final int OPEN = 0;
    private static final int LOCAL = 1;
    private static final Duration WINDOW = Duration.ofSeconds(2);
    private static final int SHARED_LIMIT = 10;
    private static final int LOCAL_LIMIT = 5;

    private final RedisProcess redis = RedisProcess.started();
    private Server server;
    private Jvm jvm;

    @BeforeEach
    void start() {
        server = LibertyServer.named("load")
                .systemProperty("ratelimit.redis.address", redis.address())
                .systemProperty("ratelimit.redis.deadline", "250ms")
                .systemProperty("ratelimit.instances", Integer.toString(SHARED_LIMIT / LOCAL_LIMIT))
                .systemProperty("io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/delay", "1000")
                .systemProperty("ratelimit.policies.compute.limit", "200/1s")
                .systemProperty("ratelimit.policies.compute.key", "header:X-Client")
                .systemProperty("ratelimit.policies.compute.on-failure", "open")
                .systemProperty("ratelimit.policies.hello.limit", SHARED_LIMIT + "/" + WINDOW.toSeconds() + "s")
                .systemProperty("ratelimit.policies.hello.algorithm", "fixed-window")
                .systemProperty("ratelimit.policies.hello.key", "header:X-Client")
                .systemProperty("ratelimit.policies.hello.on-failure", "local")
                .start();
        jvm = Jvm.of(server);
        warm();
    }

    @AfterEach
    void end() {
        server.close();
        redis.close();
    }

    /** Waits until all decisions are those of the backend for some seconds. */
    private void warm() {
        try (Load warming = load(200)) {
            long[] since = {System.nanoTime()};
            long[] degraded = {0};
            Await.until("a second without an outage", TIMEOUT.multipliedBy(3), () -> {
                LockSupport.parkNanos(100_000_000);
                if (lines("WEIR-301") != degraded[0] || lines("WEIR-301") != lines("WEIR-302")) {
                    degraded[0] = lines("WEIR-301");
                    since[0] = System.nanoTime();
                }
                return System.nanoTime() - since[0] > 3_000_000_000L;
            });
        }
    }

    private Load load(int perSecond) {
        return Load.on(server.baseUri(), perSecond, THREADS, CLIENTS, "api/search", "api/hello");
    }

    @Test
    void servesWhileRedisRestarts() {
        long outages = lines("WEIR-301");
        long killed;
        long back;
        long keys;
        List<Integer> threads = new ArrayList<>(List.of(jvm.threads()));
        List<Long> heap = new ArrayList<>();
        List<Load.Request> requests;
        try (Load load = load(PER_SECOND)) {
            threads.add(maxThreads(LONG.dividedBy(3)));
            killed = System.nanoTime();
            redis.kill();
            // No request waits for Redis during the collection, which would cause further timeouts.
            heap.add(jvm.usedHeap());
            threads.add(maxThreads(LONG.dividedBy(6)));
            redis.start();
            back = System.nanoTime();
            threads.add(maxThreads(LONG.dividedBy(2)));
            requests = load.end();
            keys = keys();
            heap.add(jvm.usedHeap());
        }
        LoadReport report = new LoadReport(requests);
        System.out.println(
                report.text("Load for " + LONG + " with " + PER_SECOND + " requests/s, Redis unavailable for "
                        + Duration.ofNanos(back - killed).toMillis() + " ms; heap after a collection " + heap
                        + " KiB; threads before and at most until, during and after the outage " + threads
                        + "; keys in Redis " + keys));

        noRequestFailed(report);
        assertThat(report.maxAllowed(LOCAL, WINDOW)).isBetween(1, 2 * (SHARED_LIMIT + LOCAL_LIMIT));
        Duration outage = Duration.ofNanos(back - killed);
        assertThat(report.maxAllowed(LOCAL, killed + 200_000_000, back))
                .as("during the outage")
                .isBetween(1, ((int) outage.dividedBy(WINDOW) + 2) * LOCAL_LIMIT);
        assertThat(lines("WEIR-301")).isGreaterThan(outages);
        Await.until("WEIR-302", TIMEOUT, () -> {
            Http.get(server.baseUri().resolve("api/search"), "X-Client", "last");
            return lines("WEIR-302") == lines("WEIR-301");
        });
        assertThat(heap.get(1)).as("heap %s", heap).isLessThan(heap.get(0) + heap.get(0) / 5);
        assertThat(threads).allSatisfy(most -> assertThat(most).isLessThan(threads.get(0) + 40));
        Await.until("all keys expired", TIMEOUT, () -> keys() == 0);
        System.out.println("Keys in Redis after all windows: 0");
    }

    @Test
    void resourcesAreBoundedWhileRedisFlaps() {
        pause(Duration.ofSeconds(1));
        int threads = jvm.threads();
        int files = jvm.openFiles();
        int sockets = jvm.socketsTo(redis.port());
        long weirBefore = lines("WEIR-");
        long othersBefore = lines(RECORD) - weirBefore;
        long heap = 0;
        int maxThreads = 0;
        int maxFiles = 0;
        int maxSockets = 0;
        int flaps = 0;
        List<Load.Request> requests;
        try (Load load = load(500)) {
            for (long start = System.nanoTime(); System.nanoTime() - start < FLAPPING.toNanos(); flaps++) {
                redis.pause();
                try {
                    pause(Duration.ofSeconds(1));
                } finally {
                    redis.resume();
                }
                maxThreads = Math.max(maxThreads, jvm.threads());
                maxFiles = Math.max(maxFiles, jvm.openFiles());
                maxSockets = Math.max(maxSockets, jvm.socketsTo(redis.port()));
                // The heap must not grow from here on. The objects of the first load do not count.
                if (heap == 0
                        && System.nanoTime() - start > FLAPPING.dividedBy(3).toNanos()) {
                    heap = jvm.usedHeap();
                }
                pause(Duration.ofSeconds(1));
            }
            requests = load.end();
        }
        LoadReport report = new LoadReport(requests);
        long weir = lines("WEIR-") - weirBefore;
        long others = lines(RECORD) - lines("WEIR-") - othersBefore;
        System.out.println(report.text(flaps + " flaps; threads " + threads + ", at most " + maxThreads + "; files "
                + files + ", " + maxFiles + "; sockets to Redis " + sockets + ", " + maxSockets
                + "; records of the log "
                + weir + ", of the client and the server " + others + "; heap " + heap + ", " + jvm.usedHeap()
                + " KiB"));

        noRequestFailed(report);
        assertThat(report.maxAllowed(LOCAL, WINDOW)).isBetween(1, 2 * (SHARED_LIMIT + LOCAL_LIMIT));
        assertThat(maxThreads).isLessThan(threads + 40);
        assertThat(maxSockets).isLessThanOrEqualTo(POOL);
        assertThat(maxFiles).isLessThan(files + 40);
        // Per flap: unavailable, open, closed, available, and sometimes rejected calls.
        assertThat(weir + others).isLessThanOrEqualTo(5L * flaps + 10);
        assertThat(jvm.usedHeap()).isLessThan(heap + heap / 5);
    }

    private static void noRequestFailed(LoadReport report) {
        assertThat(report.othersThan(OPEN, 200, 429)).isZero();
        // A rejection of the failure mode local is a 503.
        assertThat(report.othersThan(LOCAL, 200, 429, 503)).isZero();
    }

    /** Returns the number of keys of limits. The reports and the presence of running instances stay. */
    private long keys() {
        try (RedisConnection connection = redis.connect()) {
            return connection.keys("*").stream()
                    .filter(key -> !key.startsWith("weir:1:fleet:") && !key.endsWith("+present"))
                    .count();
        }
    }

    private long lines(String message) {
        return Pattern.compile(message).matcher(server.log()).results().count();
    }

    /** Waits, and returns the maximum number of threads of the server in the meantime. */
    private int maxThreads(Duration time) {
        int max = jvm.threads();
        for (long start = System.nanoTime(); System.nanoTime() - start < time.toNanos(); ) {
            pause(Duration.ofMillis(500));
            max = Math.max(max, jvm.threads());
        }
        return max;
    }

    private static void pause(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
