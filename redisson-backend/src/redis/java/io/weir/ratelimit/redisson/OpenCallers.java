// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Callers that repeat one call, and count its outcomes as the engine decides with the failure mode {@code open}: if the backend fails, an
 * earlier rejection that still holds rejects the call, otherwise the call is allowed without a decision.
 */
final class OpenCallers implements AutoCloseable {
    private final RateLimitBackend backend;
    private final List<Charge> charges;
    private final long pauseNanos;
    private final LongAdder allowed = new LongAdder();
    private final LongAdder rejected = new LongAdder();
    private final LongAdder undecided = new LongAdder();
    private final LongAdder undecidedWhileRejected = new LongAdder();
    private final Map<Reason, LongAdder> failures = new ConcurrentSkipListMap<>();

    /** The period in which Redis would reject each call, by the latest rejection. */
    private final AtomicReference<Period> rejectedIn = new AtomicReference<>(new Period(0, 0));

    private final AtomicBoolean ended = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();

    private record Period(long fromNanos, long toNanos) {
        boolean contains(long startNanos, long endNanos) {
            return startNanos - fromNanos > 0 && toNanos - endNanos > 0;
        }
    }

    private OpenCallers(RateLimitBackend backend, List<Charge> charges, long pauseNanos) {
        this.backend = backend;
        this.charges = charges;
        this.pauseNanos = pauseNanos;
    }

    /** Starts callers that pause for a time after each call, until they are closed or have called for a time. */
    static OpenCallers started(
            RateLimitBackend backend, int callers, long pauseNanos, Duration time, Charge... charges) {
        OpenCallers started = new OpenCallers(backend, List.of(charges), pauseNanos);
        long end = System.nanoTime() + time.toNanos();
        for (int i = 0; i < callers; i++) {
            Thread thread = new Thread(() -> started.repeat(end), "open-caller-" + i);
            started.threads.add(thread);
            thread.start();
        }
        return started;
    }

    private void repeat(long endNanos) {
        while (!ended.get() && endNanos - System.nanoTime() > 0) {
            call();
            if (pauseNanos > 0) {
                LockSupport.parkNanos(pauseNanos);
            }
        }
    }

    private void call() {
        long start = System.nanoTime();
        Period known = rejectedIn.get();
        try {
            count(backend.acquire(charges), start);
        } catch (BackendException e) {
            failures.computeIfAbsent(e.reason(), any -> new LongAdder()).increment();
            backend.capability(RemembersRejections.class)
                    .orElseThrow()
                    .knownRejection(charges)
                    .ifPresentOrElse(rejected -> count(rejected, start), () -> {
                        undecided.increment();
                        if (known.contains(start, System.nanoTime())) {
                            undecidedWhileRejected.increment();
                        }
                    });
        }
    }

    private void count(Decision decision, long startNanos) {
        if (decision instanceof Decision.Rejected rejection) {
            rejected.increment();
            // A rejection applies a thousandth of its duration less, since clocks differ.
            long nanos = Micros.retryAfter(rejection.decisiveQuota()) * 998;
            rejectedIn.set(new Period(System.nanoTime(), startNanos + nanos));
        } else {
            allowed.increment();
        }
    }

    long requests() {
        return allowed() + rejected() + undecided();
    }

    /** Returns the number of calls that Redis allowed. */
    long allowed() {
        return allowed.sum();
    }

    long rejected() {
        return rejected.sum();
    }

    /** Returns the number of calls that were allowed because the backend failed. */
    long undecided() {
        return undecided.sum();
    }

    /** Returns the number of undecided calls within the time that an earlier rejection had named. */
    long undecidedWhileRejected() {
        return undecidedWhileRejected.sum();
    }

    /** Returns the number of calls for which the backend failed, whether an earlier rejection decided on them or not. */
    long failures() {
        return failures.values().stream().mapToLong(LongAdder::sum).sum();
    }

    /** Returns all counts. */
    @Override
    public String toString() {
        return requests() + " requests, allowed " + allowed() + ", rejected " + rejected() + ", let through undecided "
                + undecided() + ", of these within the time of a rejection " + undecidedWhileRejected() + "; failures "
                + failures;
    }

    /** Waits until the callers have called for their time. */
    void await() {
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        ended.set(true);
        await();
    }
}
