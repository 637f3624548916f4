// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.events.KnownBlocks.Block;
import io.weir.ratelimit.core.events.KnownBlocks.Cause;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The blocks that an instance knows of. */
class KnownBlocksTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final KnownBlocks blocks = new KnownBlocks(nanos::get);

    private static long micros(Duration time) {
        return time.toNanos() / 1_000;
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private Block only() {
        assertThat(blocks.list()).hasSize(1);
        return blocks.list().get(0);
    }

    @Test
    void aPenaltyKeepsItsNumberWhileItRejectsCalls() {
        blocks.penalized("api", "i.a", HOUR, 2);
        pass(Duration.ofMinutes(10));
        blocks.met("api", "i.a", micros(Duration.ofMinutes(50).plusSeconds(1)));
        assertThat(only())
                .isEqualTo(new Block(
                        "api", "i.a", Cause.PENALTY, Duration.ofMinutes(50).plusSeconds(1), Duration.ZERO, 2, HOUR));
    }

    @Test
    void aPauseKeepsItsCauseWhileItRejectsCalls() {
        blocks.paused("partner", "i.a", HOUR);
        pass(Duration.ofMinutes(10));
        blocks.met("partner", "i.a", micros(Duration.ofMinutes(50)));
        assertThat(only().cause()).isEqualTo(Cause.PAUSE);
    }

    @Test
    void aPauseWithinAnotherBlockIsNotItsCause() {
        blocks.blocked("partner", "i.a", HOUR);
        pass(Duration.ofMinutes(10));
        blocks.paused("partner", "i.a", Duration.ofMinutes(50));
        assertThat(only().cause()).isEqualTo(Cause.OPERATOR);
        blocks.paused("partner", "i.a", Duration.ofHours(2));
        assertThat(only().cause()).isEqualTo(Cause.PAUSE);
    }

    @Test
    void anotherEndIsAnotherBlock() {
        blocks.penalized("api", "i.a", HOUR, 2);
        pass(Duration.ofMinutes(10));
        blocks.met("api", "i.a", micros(Duration.ofHours(2)));
        assertThat(only().cause()).isEqualTo(Cause.UNKNOWN);
        assertThat(only().rest()).isEqualTo(Duration.ofHours(2));
        pass(Duration.ofSeconds(3));
        blocks.met("api", "i.a", micros(Duration.ofMinutes(5)));
        assertThat(only().rest()).isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void aKnownRejectionOfAnEarlierBlockDoesNotReplaceANewBlock() {
        blocks.blocked("api", "i.a", HOUR);
        pass(Duration.ofSeconds(1));
        blocks.met("api", "i.a", micros(Duration.ofMinutes(1)));
        assertThat(only().cause()).isEqualTo(Cause.OPERATOR);
        assertThat(only().rest()).isEqualTo(HOUR.minusSeconds(1));
    }

    @Test
    void anEndedBlockIsListedAsEndedUntilItsEnd() {
        blocks.blocked("api", "i.a", HOUR);
        blocks.ended("api", "i.a");
        pass(Duration.ofSeconds(1));
        blocks.met("api", "i.a", micros(HOUR.minusSeconds(1)));
        assertThat(only().cause()).isEqualTo(Cause.ENDED);
        assertThat(only().seen()).isEqualTo(Duration.ofSeconds(1));
        pass(Duration.ofSeconds(1));
        blocks.met("api", "i.a", micros(HOUR.minusSeconds(2)));
        assertThat(only().cause()).isEqualTo(Cause.UNKNOWN);
        pass(HOUR);
        assertThat(blocks.list()).isEmpty();
    }

    @Test
    void keepsTheBlocksThatEndLast() {
        for (int i = 1; i <= 2 * KnownBlocks.MAX_BLOCKS; i++) {
            blocks.met("api", "i." + i, micros(Duration.ofMinutes(i)));
        }
        blocks.met("api", "i.early", micros(Duration.ofMinutes(1)));
        assertThat(blocks.list()).hasSize(KnownBlocks.MAX_BLOCKS);
        assertThat(blocks.list().get(0).storedKey()).isEqualTo("i." + 2 * KnownBlocks.MAX_BLOCKS);
        assertThat(blocks.list())
                .allSatisfy(
                        block -> assertThat(block.rest()).isGreaterThan(Duration.ofMinutes(KnownBlocks.MAX_BLOCKS)));
        pass(Duration.ofMinutes(2 * KnownBlocks.MAX_BLOCKS));
        blocks.met("api", "i.early", micros(Duration.ofMinutes(1)));
        assertThat(only().storedKey()).isEqualTo("i.early");
    }

    @Test
    void endedBlocksAreBoundedAndTakeNoPlaceOfOthers() {
        blocks.met("api", "i.a", micros(Duration.ofMinutes(1)));
        for (int i = 0; i < 2 * KnownBlocks.MAX_BLOCKS; i++) {
            blocks.ended("api", "i." + i);
            pass(Duration.ofNanos(1));
        }
        assertThat(blocks.list()).hasSize(1 + KnownBlocks.MAX_ENDED);
        assertThat(blocks.list().get(0).storedKey()).isEqualTo("i.a");
        pass(Duration.ofDays(1));
        assertThat(blocks.list()).isEmpty();
    }
}
