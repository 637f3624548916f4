// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three processes call one key, and one of them is killed: never more calls run at once than the limit allows. */
@Tag("ci")
@Tag("redis")
class KilledSlotsTest {
    static final Duration TIMEOUT = Duration.ofSeconds(3);

    private static final boolean FULL = Boolean.getBoolean("weir.test.full");
    private static final int THREADS = FULL ? 200 : 25;
    private static final long CALLS = FULL ? 10_000 : 100;
    private static final Duration START_WITHIN = Duration.ofSeconds(90);
    private static final Duration END_WITHIN = FULL ? Duration.ofMinutes(40) : Duration.ofMinutes(3);
    private static final int SLOTS = 10;

    @Test
    void neverMoreCallsRunThanTheLimitAlthoughAProcessIsKilled(@TempDir Path folder) throws Exception {
        try (RedisProcess process = RedisProcess.started();
                TestBackend fixture = TestBackend.on(process.address()).ready();
                RedisConnection redis = process.connect();
                SlotInstance victim = instance(folder, "victim", fixture, Long.MAX_VALUE)) {
            String counter = SlotInstance.counter(fixture.namespace());
            Await.until("the victim calls", START_WITHIN, () -> number(redis, counter + ":begun") > 100);
            try (SlotInstance first = instance(folder, "first", fixture, CALLS);
                    SlotInstance second = instance(folder, "second", fixture, CALLS)) {
                Await.until(
                        "all instances call", START_WITHIN, () -> (long) redis.call("HLEN", counter + ":running") == 3);
                long begun = number(redis, counter + ":begun");
                Await.until("they call together", START_WITHIN, () -> number(redis, counter + ":begun") > begun + 100);
                Await.until(
                        "as many calls run at once as the limit allows",
                        START_WITHIN,
                        () -> number(redis, counter + ":most") >= SLOTS);
                victim.kill(redis, fixture.namespace());
                first.awaitEnd(END_WITHIN);
                second.awaitEnd(END_WITHIN);
            }
            assertThat(number(redis, counter + ":most")).isEqualTo(SLOTS);
            Await.until(
                    "all slots are back",
                    Duration.ofSeconds(30),
                    () -> fixture.backend()
                                    .peek(List.of(SlotInstance.charge(SLOTS, TIMEOUT, "k.hot")))
                                    .get(0)
                                    .remaining()
                            == SLOTS);
        }
    }

    private static SlotInstance instance(Path folder, String name, TestBackend fixture, long calls) {
        return SlotInstance.started(folder, name, fixture.address(), fixture.namespace(), SLOTS, THREADS, calls);
    }

    private static long number(RedisConnection redis, String key) {
        Object value = redis.call("GET", key);
        return value == null
                ? 0
                : Long.parseLong(new String((byte[]) value, java.nio.charset.StandardCharsets.US_ASCII));
    }
}
