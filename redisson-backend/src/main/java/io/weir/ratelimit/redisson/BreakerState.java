// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

/**
 * Immutable state of a {@link Breaker}, which describes the transitions.
 *
 * @param phase the phase
 * @param failures failures in a row, while the breaker is closed
 * @param unreported successes that are yet to be reported to the platform's breaker after a failure, while the breaker is closed
 * @param probeAtNanos when a probe is due, while the breaker is open
 * @param probeStartNanos when the latest probe started, while the breaker is open
 * @param successes successful probes in a row, while the breaker is open
 */
record BreakerState(Phase phase, int failures, int unreported, long probeAtNanos, long probeStartNanos, int successes) {
    /** Whether calls are sent, and what an open breaker waits for. */
    enum Phase {
        /** Calls are sent. */
        CLOSED,
        /** Calls fail until the delay has passed and one of them becomes the probe. */
        DELAY,
        /** Calls fail until the outcome of the probe is known. */
        PROBE,
        /** The probe has succeeded. Calls wait until that is reported to the platform's breaker. */
        REPORT
    }

    /** The state of a closed breaker without recent failures. */
    static final BreakerState CLOSED = new BreakerState(Phase.CLOSED, 0, 0, 0, 0, 0);

    /** Returns the state of an open breaker that waits until a probe is due. */
    static BreakerState delay(long probeAtNanos, int successes) {
        return new BreakerState(Phase.DELAY, 0, 0, probeAtNanos, 0, successes);
    }

    boolean isOpen() {
        return phase != Phase.CLOSED;
    }

    BreakerState afterSuccess() {
        return unreported == 1 ? CLOSED : new BreakerState(Phase.CLOSED, 0, unreported - 1, 0, 0, 0);
    }

    BreakerState afterFailure(int volume) {
        return new BreakerState(Phase.CLOSED, failures + 1, volume, 0, 0, 0);
    }

    BreakerState withProbe(long startNanos) {
        return new BreakerState(Phase.PROBE, 0, 0, probeAtNanos, startNanos, successes);
    }

    BreakerState withReport() {
        return new BreakerState(Phase.REPORT, 0, 0, probeAtNanos, probeStartNanos, successes);
    }

    BreakerState withProbeAt(long nanos) {
        return new BreakerState(phase, 0, 0, nanos, probeStartNanos, successes);
    }
}
