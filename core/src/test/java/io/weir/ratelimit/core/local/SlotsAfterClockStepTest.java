// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Slots in process while the wall clock steps: running calls keep them, and forgotten ones expire by the monotonic clock. */
class SlotsAfterClockStepTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);

    private final AtomicLong nanos = new AtomicLong();
    private final AtomicLong millis = new AtomicLong(TimeUnit.DAYS.toMillis(30_000));
    private final LocalBackend backend = new LocalBackend(2, new LocalClock(nanos::get, millis::get));

    private static List<Charge> charge(String key) {
        return List.of(new Charge(new PolicyLimits("slow", List.of(Limit.concurrency(2, TIMEOUT))), key, 1));
    }

    private Decision call(String key) {
        return backend.acquire(charge(key));
    }

    private void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
        millis.addAndGet(time.toMillis());
    }

    private void step(Duration time) {
        millis.addAndGet(time.toMillis());
        advance(Duration.ofSeconds(1)); // the clock compares itself with the wall clock once a second
    }

    @Test
    void aStepForwardFreesNoSlot() {
        Receipt first = call("a").receipt();
        call("a");
        step(HOUR);
        assertThat(call("a").allowed()).isFalse();
        assertThat(backend.peek(charge("a")).get(0).remaining()).isZero();
        assertThat(backend.renew(List.of(first)).toCompletableFuture().join()).isEmpty();
        step(HOUR);
        assertThat(backend.release(first).toCompletableFuture().join()).isTrue();
        assertThat(call("a").allowed()).isTrue();
        assertThat(call("a").allowed()).isFalse();
    }

    @Test
    void aSlotExpiresByTheMonotonicClock() {
        call("a");
        step(HOUR);
        call("a");
        advance(TIMEOUT.minusSeconds(2));
        assertThat(call("a").allowed()).isFalse();
        advance(Duration.ofSeconds(1));
        assertThat(call("a").allowed()).isTrue();
        advance(TIMEOUT);
        assertThat(backend.peek(charge("a")).get(0).remaining()).isEqualTo(2);
    }

    @Test
    void aStepForwardDropsNoKeyWithSlotsFromAFullTable() {
        call("a");
        call("b");
        step(HOUR);
        assertThatThrownBy(() -> call("c")).isInstanceOf(BackendException.class);
        assertThat(backend.peek(charge("a")).get(0).remaining()).isEqualTo(1);
        assertThat(backend.peek(charge("b")).get(0).remaining()).isEqualTo(1);
    }
}
