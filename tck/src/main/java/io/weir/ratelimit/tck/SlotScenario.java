// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A random scenario of calls of one key: they begin, end, expire and are renewed while the limit changes and the clock steps back. The model is a list of calls,
 * each with its end. It shares no code with a backend.
 */
final class SlotScenario {
    private static final long SECOND = 1_000_000;

    /** A call that holds a slot until its end, or has lost it. */
    private static final class RunningCall {
        final Receipt receipt;
        final Limit limit;
        long end;

        RunningCall(Receipt receipt, Limit limit, long end) {
            this.receipt = receipt;
            this.limit = limit;
            this.end = end;
        }

        boolean isLive(long now) {
            return end > now;
        }
    }

    private final TestKey key;
    private final ManualTime time;
    private final Random random;
    private final String title;
    private final List<RunningCall> calls = new ArrayList<>();
    private final List<String> steps = new ArrayList<>();
    private Limit limit;

    SlotScenario(TestKey key, ManualTime time, String title, long seed) {
        this.key = key;
        this.time = time;
        this.random = new Random(seed);
        this.title = title;
        this.limit = randomLimit();
    }

    private Limit randomLimit() {
        return Limit.concurrency(
                random.nextInt(random.nextInt(10) == 0 ? 60 : 5), Duration.ofSeconds(1 + random.nextInt(10)));
    }

    void run(int count) {
        check();
        for (int step = 0; step < count; step++) {
            switch (random.nextInt(12)) {
                case 0, 1, 2, 3 -> acquire();
                case 4, 5 -> release();
                case 6 -> renew();
                case 7 -> refund();
                case 8 -> advance();
                case 9 -> {
                    if (random.nextInt(4) == 0) {
                        stepBack();
                    } else {
                        advance();
                    }
                }
                case 10 -> {
                    if (random.nextInt(3) == 0) {
                        limit = randomLimit();
                        steps.add("limit " + limit + " with " + limit.window());
                    }
                }
                default -> {
                    if (random.nextInt(8) == 0) {
                        steps.add("reset");
                        key.reset(limit);
                        calls.forEach(call -> call.end = 0);
                    }
                }
            }
            check();
        }
    }

    private void acquire() {
        steps.add("acquire");
        long now = time.micros();
        boolean expected = live() < limit.permits();
        Decision decision = key.backend().acquire(List.of(charge()));
        assertThat(decision.allowed()).as(this::history).isEqualTo(expected);
        if (expected) {
            calls.add(new RunningCall(decision.receipt(), limit, now + limit.windowMicros()));
        }
        assertQuota(decision.quotas().get(0), !expected);
    }

    private void release() {
        if (!calls.isEmpty()) {
            RunningCall call = anyCall();
            steps.add("release " + calls.indexOf(call));
            key.backend().release(call.receipt).toCompletableFuture().join();
            call.end = 0;
        }
    }

    private void refund() {
        if (!calls.isEmpty()) {
            RunningCall call = anyCall();
            steps.add("refund " + calls.indexOf(call));
            key.backend().refund(call.receipt);
            call.end = 0;
        }
    }

    private void renew() {
        List<Receipt> receipts = new ArrayList<>();
        List<Receipt> lost = new ArrayList<>();
        for (RunningCall call : calls) {
            // A released receipt is not renewed.
            if (call.end > 0 && random.nextBoolean()) {
                receipts.add(call.receipt);
                if (call.isLive(time.micros())) {
                    call.end = time.micros() + call.limit.windowMicros();
                } else {
                    lost.add(call.receipt);
                }
            }
        }
        steps.add("renew " + receipts.size());
        if (!receipts.isEmpty()) {
            assertThat(key.backend().renew(receipts).toCompletableFuture().join())
                    .as(this::history)
                    .containsExactlyInAnyOrderElementsOf(lost);
        }
    }

    private void advance() {
        long step = random.nextInt(4) == 0 ? untilNextEnd() : random.nextLong(4 * SECOND);
        steps.add("advance " + step);
        time.advanceMicros(step);
    }

    /** It is not specified whether a slot that has ended begins again, so such slots are released before. */
    private void stepBack() {
        for (RunningCall call : calls) {
            if (call.end > 0 && !call.isLive(time.micros())) {
                key.backend().release(call.receipt).toCompletableFuture().join();
                call.end = 0;
            }
        }
        long step = random.nextLong(20 * SECOND);
        steps.add("step back " + step);
        time.advanceMicros(-step);
    }

    /** Returns the time until right before, at, or right after the end of a slot. */
    private long untilNextEnd() {
        return Math.max(
                0,
                calls.stream()
                                .filter(call -> call.isLive(time.micros()))
                                .mapToLong(call -> call.end - time.micros())
                                .min()
                                .orElse(1)
                        + random.nextInt(3)
                        - 1);
    }

    private RunningCall anyCall() {
        return calls.get(random.nextInt(calls.size()));
    }

    private long live() {
        return calls.stream().filter(call -> call.isLive(time.micros())).count();
    }

    private void check() {
        assertQuota(key.backend().peek(charge()).get(0), live() >= limit.permits());
    }

    private void assertQuota(Quota quota, boolean rejected) {
        assertThat(quota.remaining()).as(this::history).isEqualTo(Math.max(0, limit.permits() - live()));
        assertThat(quota.rejected()).as(this::history).isEqualTo(rejected);
        assertThat(QuotaMicros.retryAfter(quota))
                .as(this::history)
                .isBetween(rejected ? 1L : 0L, rejected ? SECOND : 0L);
        assertThat(QuotaMicros.resetAfter(quota) > 0).as(this::history).isEqualTo(live() > 0);
    }

    private Charge charge() {
        return key.charge(1 + random.nextInt(3), limit);
    }

    private String history() {
        return title + ", after " + steps;
    }
}
