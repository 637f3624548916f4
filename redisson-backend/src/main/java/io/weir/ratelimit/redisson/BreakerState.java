// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

/**
 * Immutable state of a {@link Breaker}, which describes the transitions. Failures in a row are those of a closed breaker; delay, probes and
 * successes in a row are those of an open one.
 *
 * @param unreported successes that are yet to be reported to the platform's breaker after a failure, while the breaker is closed
 * @param probeAtNanos when a probe is due
 * @param probeStartNanos when the latest probe started
 */
record BreakerState(
        Phase phase,
        int failures,
        int unreported,
        long probeAtNanos,
        long probeStartNanos,
        int successes,
        long delayNanos) {
    /** Whether calls are sent, and what an open breaker waits for. */
    enum Phase {
        /** Calls are sent. */
        CLOSED,
        /** Calls fail until the delay has passed and the prober sends a probe. */
        DELAY,
        /** Calls fail until the outcome of the probe is known. */
        PROBE,
        /** The probe has succeeded. The next caller reports that to the platform's breaker. */
        REPORT
    }

    /** The state of a breaker that was never open. */
    static final BreakerState NEW = new BreakerState(Phase.CLOSED, 0, 0, 0, 0, 0, 0);

    /** Returns the state of an open breaker that waits until a probe is due. */
    static BreakerState delay(long probeAtNanos, int successes, long delayNanos) {
        return new BreakerState(Phase.DELAY, 0, 0, probeAtNanos, 0, successes, delayNanos);
    }

    /** Returns the state of a closed breaker without recent failures. */
    BreakerState closed() {
        return new BreakerState(Phase.CLOSED, 0, 0, 0, 0, 0, 0);
    }

    /** Returns the state of an open breaker after the platform's breaker accepted a report, did not receive it, or rejected it. */
    BreakerState afterReport(Breaker.Outcome outcome, boolean accepted, long nowNanos, BreakerSettings settings) {
        long longest = settings.delay().toNanos();
        if (!outcome.ofProbe()) {
            // The platform's breaker counts its delay from the report on.
            boolean reported = outcome.failure() != null && settings.isLongest(delayNanos);
            return reported ? withProbeAt(nowNanos + longest) : this;
        }
        if (outcome.failure() != null) {
            return delay(nowNanos + delayNanos, 0, delayNanos);
        }
        if (!accepted) {
            return delay(nowNanos + longest / 10, successes, delayNanos);
        }
        return successes + 1 >= settings.successes() ? closed() : delay(nowNanos, successes + 1, delayNanos);
    }

    boolean isOpen() {
        return phase != Phase.CLOSED;
    }

    BreakerState afterSuccess() {
        return new BreakerState(Phase.CLOSED, 0, unreported - 1, 0, 0, 0, 0);
    }

    BreakerState afterFailure(int volume) {
        return new BreakerState(Phase.CLOSED, failures + 1, volume, 0, 0, 0, 0);
    }

    BreakerState withProbe(long startNanos) {
        return new BreakerState(Phase.PROBE, 0, 0, probeAtNanos, startNanos, successes, delayNanos);
    }

    BreakerState withReport() {
        return new BreakerState(Phase.REPORT, 0, 0, probeAtNanos, probeStartNanos, successes, delayNanos);
    }

    BreakerState withProbeAt(long nanos) {
        return new BreakerState(phase, 0, 0, nanos, probeStartNanos, successes, delayNanos);
    }
}
