// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.redisson.lease.KeyLease;
import io.weir.ratelimit.redisson.lease.LeasedPermits;
import io.weir.ratelimit.redisson.lease.PermitSource;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Threads that wait for a requested grant. */
class LeaseWaitTest {
    private static final long NOW = 1_000_000_000L;
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 1_000_000, Duration.ofDays(1));
    private static final Charge ONE = new Charge(new PolicyLimits("api", List.of(LIMIT)).withLease(100), "k.hot", 1);

    /** Keeps the requests, and completes those that the test selects. */
    private static final class ManualSource implements PermitSource {
        private final ConcurrentLinkedQueue<CompletableFuture<AcquireResult>> replies = new ConcurrentLinkedQueue<>();
        private final ConcurrentLinkedQueue<Charge> requests = new ConcurrentLinkedQueue<>();

        @Override
        public CompletableFuture<AcquireResult> acquire(Charge charge) {
            CompletableFuture<AcquireResult> reply = new CompletableFuture<>();
            requests.add(charge);
            replies.add(reply);
            return reply;
        }

        @Override
        public CompletableFuture<Void> refund(Refund refund) {
            return CompletableFuture.completedFuture(null);
        }

        void reply(boolean spent) {
            Charge charge = requests.remove();
            RedisTime time = new RedisTime(NOW, System.nanoTime(), System.nanoTime());
            List<ChargeStates> states =
                    List.of(new ChargeStates(charge, List.of(new FixedWindowState(NOW, charge.cost()))));
            replies.remove().complete(new AcquireResult(states, spent, spent, 0, time));
        }
    }

    private final ManualSource source = new ManualSource();
    private final KeyLease lease = new KeyLease(source, System::nanoTime, ONE);

    private CompletableFuture<LeasedPermits> waiting(long maxAwaitNanos, List<Thread> threads) {
        CompletableFuture<LeasedPermits> permits = new CompletableFuture<>();
        Thread thread = new Thread(() -> permits.complete(lease.spendOrAwait(ONE, maxAwaitNanos, System.nanoTime())));
        threads.add(thread);
        thread.start();
        return permits;
    }

    private List<CompletableFuture<LeasedPermits>> waiting(int count, List<Thread> threads) {
        List<CompletableFuture<LeasedPermits>> all = IntStream.range(0, count)
                .mapToObj(i -> waiting(LONG_NANOS, threads))
                .toList();
        Await.until(
                "all threads wait",
                SOON,
                () -> threads.stream().allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
        return all;
    }

    @Test
    void oneGrantServesAllThreadsThatWait() {
        lease.recordAllowed(1, 1_000_000, false, System.nanoTime());
        List<CompletableFuture<LeasedPermits>> all = waiting(32, new ArrayList<>());
        source.reply(true);
        assertThat(all).allSatisfy(each -> assertThat(each).succeedsWithin(SOON).isNotNull());
        assertThat(lease.unspent()).isEqualTo(68);
    }

    @Test
    void threadsStopWaitingIfTheRequestReturnsNoPermits() {
        lease.recordAllowed(1, 1_000_000, false, System.nanoTime());
        List<CompletableFuture<LeasedPermits>> all = waiting(8, new ArrayList<>());
        source.reply(false);
        assertThat(all).allSatisfy(each -> assertThat(each).succeedsWithin(SOON).isNull());
    }

    @Test
    void aThreadDoesNotWaitForASlowRequest() {
        lease.recordAllowed(1, 1_000_000, false, System.nanoTime());
        List<Thread> threads = new ArrayList<>();
        assertThat(waiting(TimeUnit.MILLISECONDS.toNanos(10), threads))
                .succeedsWithin(SOON)
                .isNull();
        assertThat(source.replies).as("the request is still in flight").hasSize(1);
    }

    @Test
    void aThreadDoesNotWaitWithoutARequest() {
        assertThat(lease.spendOrAwait(ONE, LONG_NANOS, System.nanoTime())).isNull();
    }

    @Test
    void anInterruptedThreadStopsWaiting() {
        lease.recordAllowed(1, 1_000_000, false, System.nanoTime());
        List<Thread> threads = new ArrayList<>();
        List<CompletableFuture<LeasedPermits>> all = waiting(1, threads);
        threads.get(0).interrupt();
        assertThat(all.get(0)).succeedsWithin(SOON).isNull();
    }
}
