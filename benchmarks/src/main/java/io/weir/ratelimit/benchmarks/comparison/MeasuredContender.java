// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A contender with its position in the ring of keys and the counts of its results. A call without a decision before the deadline fails. */
final class MeasuredContender {
    private final Contender contender;
    private final Workload workload;
    private final long deadlineNanos;
    private final AtomicLong started = new AtomicLong();
    private final LongAdder completed = new LongAdder();
    private final LongAdder allowed = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final AtomicReference<@Nullable Throwable> firstFailure = new AtomicReference<>();
    private volatile Latencies latencies = new Latencies();

    /**
     * Creates a contender at its first key.
     *
     * @param deadline the longest time of a call that does not fail
     */
    MeasuredContender(Contender contender, Workload workload, Duration deadline) {
        this.deadlineNanos = deadline.toNanos();
        this.contender = contender;
        this.workload = workload;
    }

    Contender limiter() {
        return contender;
    }

    /** Decides a call of the next key and waits for the result. */
    void decide() {
        long start = System.nanoTime();
        try {
            record(contender.decide(key()), start);
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    /** Decides a call of the next key asynchronously, and then runs a task. */
    void decideAsync(Runnable afterwards) {
        long start = System.nanoTime();
        try {
            BiConsumer<Object, @Nullable Throwable> end = (result, failure) -> {
                if (failure == null) {
                    record(result, start);
                } else {
                    fail(failure);
                }
                afterwards.run();
            };
            CompletionStage<?> unused = contender.decideAsync(key()).whenComplete(end);
        } catch (RuntimeException e) {
            fail(e);
            afterwards.run();
        }
    }

    private int key() {
        return (int) (started.getAndIncrement() % workload.keys());
    }

    private void record(Object result, long start) {
        long nanos = System.nanoTime() - start;
        if (nanos > deadlineNanos) {
            fail(new TimeoutException("the decision came after the deadline"));
            return;
        }
        latencies.record(nanos);
        completed.increment();
        if (contender.allowed(result)) {
            allowed.increment();
        }
    }

    private void fail(Throwable failure) {
        failed.increment();
        firstFailure.compareAndSet(null, failure);
    }

    /** Returns the number of started decisions. */
    long started() {
        return started.get();
    }

    /** Returns the number of completed decisions. */
    long completed() {
        return completed.sum();
    }

    /** Returns the number of allowed decisions. */
    long allowed() {
        return allowed.sum();
    }

    /** Returns the number of failed decisions. */
    long failed() {
        return failed.sum();
    }

    /** Returns the first failure as text. */
    String firstFailure() {
        return String.valueOf(firstFailure.get());
    }

    /** Returns the latencies since {@link #resetLatencies}. */
    Latencies latencies() {
        return latencies;
    }

    void resetLatencies() {
        latencies = new Latencies();
    }
}
