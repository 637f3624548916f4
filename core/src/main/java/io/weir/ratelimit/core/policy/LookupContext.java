// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.policy.SourceListener.Failure;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The context that look-ups of one kind share: their times, their executor and the report of their failures.
 *
 * @param maxLookups the number of look-ups at once, so that a flood of new subjects does not reach the application
 * @param listener receives failed look-ups
 * @param report logs the first failure of each outage
 */
record LookupContext(
        LookupTimes times,
        int maxLookups,
        Supplier<Executor> executor,
        SourceListener listener,
        OutageReport report,
        Semaphore freeLookups,
        OutageLog outages) {
    /** Logs the first failure of an outage. */
    @FunctionalInterface
    interface OutageReport {
        /** Logs a failure of a policy or a resolver about a subject, with an exception if there is one. */
        void log(String name, String subject, String reason, @Nullable Throwable thrown);
    }

    /** Creates a context without look-ups. */
    LookupContext(
            LookupTimes times,
            int maxLookups,
            Supplier<Executor> executor,
            SourceListener listener,
            OutageReport report) {
        this(times, maxLookups, executor, listener, report, new Semaphore(maxLookups), new OutageLog(times.nanoTime()));
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
            case TIMEOUT -> "no answer within " + TimeUnit.NANOSECONDS.toMillis(times.deadlineNanos()) + " ms";
            case BUSY -> maxLookups + " look-ups are running";
        };
    }
}
