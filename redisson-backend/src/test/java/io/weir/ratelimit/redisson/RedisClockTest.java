// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.limit.CalendarBounds;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RedisClockTest {
    private final AtomicLong nanos = new AtomicLong(-7_000);
    private final RedisClock clock = new RedisClock(nanos::get, () -> CalendarBounds.ORIGIN.toEpochMilli() + 5);

    @Test
    void beginsWithTheTimeOfTheInstance() {
        assertThat(clock.micros()).isEqualTo(5_000);
        nanos.addAndGet(2_000_000);
        assertThat(clock.micros()).isEqualTo(7_000);
    }

    @Test
    void continuesTheTimeOfTheLatestReply() {
        clock.set(1_000_000_000);
        nanos.addAndGet(3_000_000);
        assertThat(clock.micros()).isEqualTo(1_000_003_000);
    }
}
