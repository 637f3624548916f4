// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.policy.SourceListener.Failure;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The context that look-ups of one kind share: their times, their executor and the report of their failures. */
final class LookupContext {
    /** Logs the first failure of an outage. */
    @FunctionalInterface
    interface OutageReport {
        /** Logs a failure of a policy or a resolver about a subject, with an exception if there is one. */
        void log(String name, String subject, String reason, @Nullable Throwable thrown);
    }

    private final LookupTimes times;
    private final int maxLookups;
    private final Supplier<Executor> executor;
    private final SourceListener listener;
    private final OutageReport report;
    private final Semaphore free;
    private final OutageLog outages;

    /**
     * Creates a context without look-ups. Their number at once is bounded, so that a flood of new subjects does not reach the application.
     * The report logs the first failure of each outage.
     */
    LookupContext(
            LookupTimes times,
            int maxLookups,
            Supplier<Executor> executor,
            SourceListener listener,
            OutageReport report) {
        this.times = times;
        this.maxLookups = maxLookups;
        this.executor = executor;
        this.listener = listener;
        this.report = report;
        this.free = new Semaphore(maxLookups);
        this.outages = new OutageLog(times.nanoTime());
    }

    long lifetimeNanos() {
        return times.lifetimeNanos();
    }

    long deadlineNanos() {
        return times.deadlineNanos();
    }

    LongSupplier nanoTime() {
        return times.nanoTime();
    }

    Supplier<Executor> executor() {
        return executor;
    }

    Semaphore freeLookups() {
        return free;
    }

    /** Reports a failed look-up, and logs the first one of each outage. */
    void failed(String name, String subject, Failure failure, @Nullable Throwable thrown) {
        listener.failed(name, failure);
        if (outages.failed(name)) {
            report.log(name, subject, reason(failure), thrown);
        }
    }

    void succeeded(String name) {
        outages.succeeded(name);
    }

    private String reason(Failure failure) {
        return switch (failure) {
            case ERROR -> "it failed";
            case TIMEOUT -> "no answer within " + TimeUnit.NANOSECONDS.toMillis(deadlineNanos()) + " ms";
            case BUSY -> maxLookups + " look-ups are running";
        };
    }
}
