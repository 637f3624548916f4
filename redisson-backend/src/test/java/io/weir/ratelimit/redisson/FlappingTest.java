// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** A Redis that comes and goes costs no more of anything the longer it does so. */
class FlappingTest {
    private static final int TURNS = Boolean.getBoolean("weir.test.full") ? 60 : 5;
    private static final Duration A_SECOND = Duration.ofSeconds(1);

    /** Each call that was given up occupies one for a second; the client's pool holds no more. */
    private static final long MOST_CONNECTIONS = 66;

    private static final int MOST_THREADS = 40;
    private static final long MOST_MEGABYTES = 32;
    private static final int CALLS_PER_LINE = 20;

    @Test
    void aFlappingRedisLeavesNoThreadsConnectionsMemoryOrLinesBehind() {
        PrintStream before = System.err;
        AtomicLong ofTheClient = new AtomicLong();
        AtomicLong ours = new AtomicLong();
        PrintStream counting = new PrintStream(counting(ofTheClient), true, UTF_8);
        // The client's lines; the library's own go through a handler that holds another stream.
        System.setErr(counting);
        Handler own = handler(ours);
        Logger logger = Logger.getLogger("io.weir.ratelimit");
        logger.addHandler(own);
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.FLAPPING, redis.address())) {
            TestThreads threads = TestThreads.now();
            long heap = usedMegabytes();
            long start = System.nanoTime();
            scenario.during(() -> {
                        for (int turn = 0; turn < TURNS; turn++) {
                            Scenario.lasts(A_SECOND);
                            redis.pause();
                            Scenario.lasts(A_SECOND);
                            redis.resume();
                            assertThat(connections(admin)).isLessThan(MOST_CONNECTIONS);
                            assertThat(threads.others()).hasSizeLessThan(MOST_THREADS);
                        }
                    })
                    .recovers();
            assertThat(usedMegabytes() - heap).as("MB").isLessThan(MOST_MEGABYTES);
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
            System.out.printf(
                    "flapping for %d s: %d lines, %d of the client, %d failed calls%n",
                    seconds, ours.get(), ofTheClient.get(), scenario.load().failures());
            assertThat(ours.get())
                    .as("lines of %d s, one as it opens or closes", seconds)
                    .isBetween(2L, 2 + 2 * seconds);
            assertThat(ours.get() + ofTheClient.get()).as("lines of logs").isLessThanOrEqualTo(20L + 10L * TURNS);
            assertThat(ofTheClient.get())
                    .as("lines of the client, which are of connections and not of calls")
                    .isLessThan(scenario.load().failures() / CALLS_PER_LINE);
        } finally {
            logger.removeHandler(own);
            System.setErr(before);
        }
    }

    private static long connections(RedisConnection admin) {
        return admin.text("CLIENT", "LIST").lines().count();
    }

    private static long usedMegabytes() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return (runtime.totalMemory() - runtime.freeMemory()) >> 20;
    }

    private static Handler handler(AtomicLong lines) {
        return new Handler() {
            @Override
            public void publish(LogRecord logged) {
                lines.incrementAndGet();
            }

            @Override
            public void flush() {
                // nothing is kept back
            }

            @Override
            public void close() {
                // nothing is open
            }
        };
    }

    /** Counts what begins with the name of a thread, as the client's lines do; where one has an exception, its stack follows. */
    private static OutputStream counting(AtomicLong lines) {
        return new OutputStream() {
            private boolean begins = true;

            @Override
            public void write(int b) {
                if (begins && b == '[') {
                    lines.incrementAndGet();
                }
                begins = b == '\n';
            }
        };
    }
}
