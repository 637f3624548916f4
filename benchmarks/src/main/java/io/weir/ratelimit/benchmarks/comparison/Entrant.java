// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A contender with its place in the round of keys and the count of its answers. */
final class Entrant {
    private final Contender contender;
    private final Workload workload;
    private final AtomicLong turns = new AtomicLong();
    private final LongAdder answered = new LongAdder();
    private final LongAdder admitted = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final AtomicReference<@Nullable Throwable> firstFailure = new AtomicReference<>();
    private volatile Latencies latencies = new Latencies();

    Entrant(Contender contender, Workload workload) {
        this.contender = contender;
        this.workload = workload;
    }

    Contender contender() {
        return contender;
    }

    /** Decides about the next key and waits. */
    void decide() {
        long start = System.nanoTime();
        try {
            answer(contender.decide(key()), start);
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    /** Decides about the next key without waiting; afterwards says so. */
    void decideAsync(Runnable afterwards) {
        long start = System.nanoTime();
        try {
            BiConsumer<Object, @Nullable Throwable> end = (answer, failure) -> {
                if (failure == null) {
                    answer(answer, start);
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
        return (int) (turns.getAndIncrement() % workload.keys());
    }

    private void answer(Object answer, long start) {
        latencies.record(System.nanoTime() - start);
        answered.increment();
        if (contender.admitted(answer)) {
            admitted.increment();
        }
    }

    private void fail(Throwable failure) {
        failed.increment();
        firstFailure.compareAndSet(null, failure);
    }

    /** How many decisions were asked for. */
    long turns() {
        return turns.get();
    }

    /** How many decisions were answered. */
    long answered() {
        return answered.sum();
    }

    /** How many of them let the call through. */
    long admitted() {
        return admitted.sum();
    }

    /** How many decisions failed. */
    long failed() {
        return failed.sum();
    }

    /** The failure that came first, in words. */
    String firstFailure() {
        return String.valueOf(firstFailure.get());
    }

    /** How long the answers since {@link #forgetLatencies} took. */
    Latencies latencies() {
        return latencies;
    }

    void forgetLatencies() {
        latencies = new Latencies();
    }
}
