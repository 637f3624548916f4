// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestThreads;
import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A flapping Redis does not use more and more resources. */
@Tag("ci")
@Tag("fault")
class FlappingTest {
    private static final int TURNS = Scenario.FULL ? 60 : 4;
    private static final Duration A_SECOND = Duration.ofSeconds(1);

    /** Each call that times out occupies a connection for one second. The pool of the client has no more than this. */
    private static final long MAX_CONNECTIONS = 66;

    private static final int MAX_THREADS = 40;
    private static final long MAX_MEGABYTES = 32;
    private static final int CALLS_PER_LINE = 20;

    @Test
    void aFlappingRedisLeaksNoThreadsConnectionsMemoryOrLogLines() {
        PrintStream before = System.err;
        AtomicLong clientLines = new AtomicLong();
        AtomicLong libraryLines = new AtomicLong();
        PrintStream counting = new PrintStream(counting(clientLines), true, UTF_8);
        // This stream receives the lines of the client. Those of the library go through a handler with another stream.
        System.setErr(counting);
        Handler handler = handler(libraryLines);
        Logger logger = Logger.getLogger("io.weir.ratelimit");
        logger.addHandler(handler);
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.FLAPPING, redis.address())) {
            TestThreads threads = TestThreads.snapshot();
            long heap = usedMegabytes();
            long start = System.nanoTime();
            scenario.during(() -> {
                        for (int turn = 0; turn < TURNS; turn++) {
                            Scenario.lasts(A_SECOND, A_SECOND);
                            redis.pause();
                            if (turn == 0) {
                                scenario.lasts(A_SECOND); // until the breaker has opened
                            } else {
                                Scenario.lasts(A_SECOND, A_SECOND);
                            }
                            redis.resume();
                            assertThat(connections(admin)).isLessThan(MAX_CONNECTIONS);
                            assertThat(threads.newThreads()).hasSizeLessThan(MAX_THREADS);
                        }
                    })
                    .recovers();
            assertThat(usedMegabytes() - heap).as("MB").isLessThan(MAX_MEGABYTES);
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
            System.out.printf(
                    "flapping for %d s: %d lines, %d of the client, %d failed calls%n",
                    seconds,
                    libraryLines.get(),
                    clientLines.get(),
                    scenario.load().failures());
            assertThat(libraryLines.get())
                    .as("lines of %d s, one as it opens or closes", seconds)
                    .isBetween(2L, 2 + 2 * seconds);
            assertThat(libraryLines.get() + clientLines.get())
                    .as("lines of logs")
                    .isLessThanOrEqualTo(20L + 10L * TURNS);
            assertThat(clientLines.get())
                    .as("lines of the client, which depend on connections and not on calls")
                    .isLessThan(scenario.load().failures() / CALLS_PER_LINE);
        } finally {
            logger.removeHandler(handler);
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
                // the handler keeps no record
            }

            @Override
            public void close() {
                // the handler has no resources
            }
        };
    }

    /** Counts the lines that begin with the name of a thread, as those of the client do. Lines of stack traces do not. */
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
