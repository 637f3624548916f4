// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.Stopwatch;
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
 * Threads that repeat the same call, with counts of the outcomes. Each thread pauses between calls, so that failing at once does not
 * raise the rate. The first thread calls asynchronously, the others block.
 */
final class LoadedBackend implements AutoCloseable {
    /** The reasons of failures after which Redis may have charged the call. */
    private static final Set<Reason> UNCERTAIN = EnumSet.of(Reason.TIMEOUT, Reason.CONNECTION);

    private static final int THREADS = 4;
    private static final Duration PAUSE = Duration.ofMillis(3);
    private static final int STEADY = 400;
    private static final Duration MAX_WAIT = Duration.ofSeconds(30);

    /** The shortest duration of a call from which delays by the machine are subtracted, which takes time. */
    private static final Duration LONG = Duration.ofMillis(50);

    /**
     * A call.
     *
     * @param startNanos the start, as {@link System#nanoTime}
     * @param endNanos the end, as {@link System#nanoTime}
     * @param duration the duration of a long call without delays by the machine
     * @param decided whether there was a decision
     */
    record Call(long startNanos, long endNanos, Duration duration, boolean decided) {
        long nanos() {
            return endNanos - startNanos;
        }
    }

    private final RedissonBackend backend;
    private final List<Charge> charges;
    private final AtomicLong allowed = new AtomicLong();
    private final AtomicLong rejected = new AtomicLong();
    private final boolean mayBeRejected;
    private final AtomicLong decidedInARow = new AtomicLong();
    private final Map<Reason, Long> failed = new ConcurrentSkipListMap<>();
    private final Set<String> messages = new ConcurrentSkipListSet<>();
    private final Collection<Call> calls = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> unexpected = new AtomicReference<>();
    private final AtomicLong openSinceNanos = new AtomicLong(Long.MAX_VALUE);
    private final AtomicBoolean ended = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();

    /** Starts load on a backend that is available. */
    LoadedBackend(RedissonBackend backend, Charge... charges) {
        this(backend, THREADS, false, charges);
        awaitDecisions();
    }

    private LoadedBackend(RedissonBackend backend, int callers, boolean mayBeRejected, Charge... charges) {
        Stopwatch.started();
        this.mayBeRejected = mayBeRejected;
        this.backend = backend;
        this.charges = List.of(charges);
        for (int i = 0; i < callers; i++) {
            boolean async = i == 0;
            Thread thread = new Thread(() -> load(async), "load-" + i);
            thread.start();
            threads.add(thread);
        }
    }

    /** Starts load on a backend that may be unavailable. */
    static LoadedBackend onAnyBackend(RedissonBackend backend, Charge... charges) {
        return new LoadedBackend(backend, THREADS, false, charges);
    }

    /** Starts load that continues when the limit is exhausted. */
    static LoadedBackend beyondTheLimit(RedissonBackend backend, Charge... charges) {
        return new LoadedBackend(backend, THREADS, true, charges);
    }

    /** Starts load of one caller that continues when the limit is exhausted, on a backend that may be unavailable. */
    static LoadedBackend ofOneCaller(RedissonBackend backend, Charge... charges) {
        return new LoadedBackend(backend, 1, true, charges);
    }

    private void load(boolean async) {
        while (!ended.get()) {
            Stopwatch watch = async ? Stopwatch.startedForTimer() : Stopwatch.started();
            boolean decided = false;
            try {
                Decision decision = async ? asyncDecision() : backend.acquire(charges);
                assertThat(decision.allowed() || mayBeRejected).isTrue();
                (decision.allowed() ? allowed : rejected).incrementAndGet();
                decidedInARow.incrementAndGet();
                decided = true;
            } catch (BackendException e) {
                recordFailure(e.reason());
                messages.add(String.valueOf(e.getMessage()));
                decidedInARow.set(0);
            } catch (RuntimeException | Error e) {
                unexpected.set(e);
                return;
            }
            calls.add(call(watch, System.nanoTime(), decided));
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    private void recordFailure(Reason reason) {
        failed.merge(reason, 1L, Long::sum);
        if (reason == Reason.BREAKER_OPEN) {
            openSinceNanos.compareAndSet(Long.MAX_VALUE, System.nanoTime());
        }
    }

    private static Call call(Stopwatch watch, long endNanos, boolean decided) {
        Duration duration = Duration.ofNanos(endNanos - watch.startNanos());
        return new Call(
                watch.startNanos(), endNanos, duration.compareTo(LONG) < 0 ? duration : watch.elapsed(), decided);
    }

    private Decision asyncDecision() {
        try {
            return backend.acquireAsync(charges).toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof BackendException failure) {
                throw failure;
            }
            throw new AssertionError("an unexpected failure", e);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("never completed", e);
        }
    }

    /** Waits until 200 more calls have been allowed. */
    void awaitDecisions() {
        long before = allowed.get();
        Await.until("the backend decides under load", MAX_WAIT, () -> allowed.get() > before + 200);
    }

    /** Waits until 400 calls in a row have been decided. */
    void awaitSteadyDecisions() {
        decidedInARow.set(0);
        Await.until(
                "the backend decides all calls",
                MAX_WAIT,
                () -> decidedInARow.get() > STEADY || unexpected.get() != null);
    }

    /** Ends the load, and checks that each call ended in time with a decision or an expected failure. */
    void end(Duration deadline) {
        close();
        assertThat(unexpected).hasNullValue();
        assertThat(calls)
                .extracting(Call::duration)
                .allMatch(duration -> duration.compareTo(deadline.plus(FaultCalls.MARGIN)) < 0);
    }

    long allowed() {
        return allowed.get();
    }

    long rejected() {
        return rejected.get();
    }

    /** Returns the number of failed calls. */
    long failures() {
        return failed.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the number of failed calls that may have been charged once. */
    long uncertain() {
        return UNCERTAIN.stream()
                .mapToLong(reason -> failed.getOrDefault(reason, 0L))
                .sum();
    }

    /** Waits until a call has failed with a message. */
    void awaitMessage(String message) {
        Await.until("a call fails with: " + message, MAX_WAIT, () -> messages.contains(message));
    }

    /** Waits until a call has failed for a reason. */
    void awaitFailure(Reason reason) {
        Await.until("a call fails with " + reason, MAX_WAIT, () -> failed.containsKey(reason));
    }

    /** Waits until more calls have failed than were in flight. */
    void awaitMoreFailures() {
        long before = failures();
        Await.until("more calls fail", MAX_WAIT, () -> failures() > before + threads.size());
    }

    /** Waits until the breaker has been open for some time, in which a probe has failed. */
    void awaitFailedProbe(Duration time) {
        Await.until(
                "a probe fails",
                MAX_WAIT,
                () -> openSinceNanos.get() != Long.MAX_VALUE
                        && System.nanoTime() - openSinceNanos.get() > time.toNanos());
    }

    Map<Reason, Long> failuresByReason() {
        return Map.copyOf(failed);
    }

    /** Returns all completed calls, in no order. */
    Collection<Call> calls() {
        return calls;
    }

    /** Returns a description for a failing test. */
    @Override
    public String toString() {
        return allowed + " allowed, " + rejected + " rejected, failed " + failed + ", slowest "
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
