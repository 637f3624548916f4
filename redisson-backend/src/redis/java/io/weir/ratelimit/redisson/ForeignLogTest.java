// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Limit;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A string with the length of a log and impossible totals fails the requests of its key, and no others. */
@Tag("redis")
class ForeignLogTest {
    private static final Instant EPOCH = Instant.parse("2025-01-01T00:00:00Z");
    private static final Limit LOG = Limit.of(Algorithm.SLIDING_LOG, 10, Duration.ofHours(1));

    private final TestBackend fixture = TestBackend.on(RedisFixture.shared().address());
    private final RedisConnection redis = RedisFixture.shared().connect();

    @BeforeEach
    void connect() {
        fixture.ready();
    }

    @AfterEach
    void disconnect() {
        redis.drop(fixture.pattern());
        fixture.close();
        redis.close();
    }

    @Test
    void decreasingTotalsAreForeignEvenIfTheClockIsBetweenTheirEntries() {
        long now = ChronoUnit.MICROS.between(EPOCH, Instant.now());
        ByteBuffer state = ByteBuffer.allocate(34);
        // 3,600,000 ms, two entries
        state.put((byte) 'g')
                .put((byte) 0)
                .putInt(3_600_000)
                .putShort((short) 2)
                .putInt(0);
        entry(state, now - 60_000_000, 4_000_000_000L);
        entry(state, now + 600_000_000, 5);
        String key = fixture.key("k.a");
        redis.call("SET", key, state.array());
        assertThatExceptionOfType(BackendException.class)
                .isThrownBy(() -> fixture.acquire("k.a", 1, LOG))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.FOREIGN_STATE));
        assertThat(redis.bytes(key)).isEqualTo(state.array());
    }

    private static void entry(ByteBuffer state, long micros, long total) {
        state.put((byte) (micros >> 48)).putShort((short) (micros >> 32)).putInt((int) micros);
        state.putInt((int) total);
    }
}
