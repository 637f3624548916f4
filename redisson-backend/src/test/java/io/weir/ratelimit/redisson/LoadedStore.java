// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that make the same decisions over and over, with a count of what became of them. Each pauses between calls, so that
 * failing at once is no reason to call more often; the first one waits for a stage, the others in the call.
 */
final class LoadedStore implements AutoCloseable {
    /** Which of the failures leave open whether Redis has charged the call: by the others it says, or was not asked. */
    private static final Set<Reason> UNCERTAIN = EnumSet.of(Reason.TIMEOUT, Reason.CONNECTION);

    private static final int THREADS = 4;
    private static final Duration PAUSE = Duration.ofMillis(3);
    private static final int STEADY = 400;
    private static final Duration DECIDES_WITHIN = Duration.ofSeconds(30);

    /** A call: when it began and ended, as {@link System#nanoTime}, and whether it was decided. */
    record Call(long startNanos, long endNanos, boolean decided) {
        long nanos() {
            return endNanos - startNanos;
        }
    }

    private final RedissonBackend backend;
    private final List<Charge> charges;
    private final AtomicLong admitted = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final boolean mayBeRefused;
    private final AtomicLong decidedInARow = new AtomicLong();
    private final Map<Reason, Long> failed = new ConcurrentSkipListMap<>();
    private final Set<String> told = new ConcurrentSkipListSet<>();
    private final Collection<Call> calls = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> surprise = new AtomicReference<>();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();

    /** Load on a store that decides. */
    LoadedStore(RedissonBackend backend, Charge... charges) {
        this(backend, THREADS, false, charges);
        awaitDecisions();
    }

    private LoadedStore(RedissonBackend backend, int callers, boolean mayBeRefused, Charge... charges) {
        Stopwatch.started();
        this.mayBeRefused = mayBeRefused;
        this.backend = backend;
        this.charges = List.of(charges);
        for (int i = 0; i < callers; i++) {
            boolean waitsForAStage = i == 0;
            Thread thread = new Thread(() -> load(waitsForAStage), "load-" + i);
            thread.start();
            threads.add(thread);
        }
    }

    /** Load on a store that need not decide yet. */
    static LoadedStore onAnyStore(RedissonBackend backend, Charge... charges) {
        return new LoadedStore(backend, THREADS, false, charges);
    }

    /** Load that goes on when the limit is spent. */
    static LoadedStore beyondTheLimit(RedissonBackend backend, Charge... charges) {
        return new LoadedStore(backend, THREADS, true, charges);
    }

    /** Load of a single caller, who is refused when the limit is spent, on a store that need not decide yet. */
    static LoadedStore ofOneCaller(RedissonBackend backend, Charge... charges) {
        return new LoadedStore(backend, 1, true, charges);
    }

    private void load(boolean waitsForAStage) {
        while (!ended.get()) {
            long start = System.nanoTime();
            boolean decided = false;
            try {
                Decision decision = waitsForAStage ? decisionOfAStage() : backend.acquire(charges);
                assertThat(decision.allowed() || mayBeRefused).isTrue();
                (decision.allowed() ? admitted : refused).incrementAndGet();
                decidedInARow.incrementAndGet();
                decided = true;
            } catch (BackendException e) {
                failed.merge(e.reason(), 1L, Long::sum);
                told.add(String.valueOf(e.getMessage()));
                decidedInARow.set(0);
            } catch (RuntimeException | Error e) {
                surprise.set(e);
                return;
            }
            calls.add(new Call(start, System.nanoTime(), decided));
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private Decision decisionOfAStage() {
        try {
            return backend.acquireAsync(charges).toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof BackendException failure) {
                throw failure;
            }
            throw new AssertionError("no decision may end so", e);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("never completed", e);
        }
    }

    /** Waits until some hundred more have been admitted. */
    void awaitDecisions() {
        long before = admitted.get();
        Await.until("the store decides under load", DECIDES_WITHIN, () -> admitted.get() > before + 200);
    }

    /** Waits until some hundred in a row have been decided. */
    void awaitSteadyDecisions() {
        decidedInARow.set(0);
        Await.until(
                "the store decides all calls",
                DECIDES_WITHIN,
                () -> decidedInARow.get() > STEADY || surprise.get() != null);
    }

    /** Ends the load; no call took much longer than its deadline, and none ended in another way than a decision may. */
    void end(Duration deadline) {
        close();
        assertThat(surprise).hasNullValue();
        assertThat(calls)
                .filteredOn(call -> call.nanos() > deadline.toNanos())
                .allSatisfy(call -> assertThat(Stopwatch.between(call.startNanos, call.endNanos))
                        .isLessThan(deadline.plus(FaultCalls.MARGIN)));
    }

    long admitted() {
        return admitted.get();
    }

    long refused() {
        return refused.get();
    }

    /** Calls that failed. */
    long failures() {
        return failed.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Calls that failed and may have been charged, each of them once. */
    long uncertain() {
        return UNCERTAIN.stream()
                .mapToLong(reason -> failed.getOrDefault(reason, 0L))
                .sum();
    }

    /** Waits until a call has been told so. */
    void awaitTold(String what) {
        Await.until("a call is told: " + what, DECIDES_WITHIN, () -> told.contains(what));
    }

    /** Waits until a call has failed so. */
    void awaitFailure(Reason reason) {
        Await.until("a call fails with " + reason, DECIDES_WITHIN, () -> failed.containsKey(reason));
    }

    Map<Reason, Long> failuresByReason() {
        return Map.copyOf(failed);
    }

    /** All calls that have ended, in no order. */
    Collection<Call> calls() {
        return calls;
    }

    /** In words, for a test that fails. */
    @Override
    public String toString() {
        return admitted + " admitted, " + refused + " refused, failed " + failed + ", slowest "
                + calls.stream().mapToLong(Call::nanos).max().orElse(0) / 1_000_000 + " ms";
    }

    @Override
    public void close() {
        ended.set(true);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
