// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The leases of one bucket of a proxy, and its demand. The permits of a lease are charged before the proxy has them. A lease is settled when
 * the proxy can no longer use it: some time after its end, with the requests that the proxy has reported. The caller synchronizes.
 */
final class QuotaBucket {
    /** The time after the end of a lease in which a report about it can arrive. */
    static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** The requests that a proxy gets before it has reported its demand. */
    private static final long FIRST = 10;

    /** A proxy removes a bucket without requests, and does not report that. */
    private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

    private static final double HEADROOM = 1.25;

    private final Deque<Lease> leases = new ArrayDeque<>();
    private double requestsPerNano = -1;
    private long reportedNanos;
    private long idleNanos = IDLE_NANOS;
    private long unassigned;
    private int assignments;

    /** Permits for requests that a proxy can allow. */
    private static final class Lease {
        private final Receipt receipt;
        private final long requests;
        private final long endNanos;
        private long used;

        Lease(Receipt receipt, long requests, long endNanos) {
            this.receipt = receipt;
            this.requests = requests;
            this.endNanos = endNanos;
        }
    }

    /**
     * A lease that the proxy can no longer use.
     *
     * @param requests the requests that it was charged for
     * @param used the requests that it has allowed, which can be more than the lease had
     */
    record Ended(Receipt receipt, long requests, long used) {}

    /**
     * Records a report.
     *
     * @param allowed the allowed requests since the last report, which use the oldest lease first; an unsigned number
     * @param rejected the rejected requests since then; an unsigned number
     * @param elapsedNanos the time since then
     */
    void reported(long allowed, long rejected, long elapsedNanos, long nowNanos) {
        long rest = bounded(allowed);
        if (elapsedNanos > 0) {
            requestsPerNano = (rest + bounded(rejected)) / (double) elapsedNanos;
            idleNanos = Math.max(IDLE_NANOS, elapsedNanos > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : 2 * elapsedNanos);
        }
        reportedNanos = nowNanos;
        for (Lease lease : leases) {
            long more = Math.min(rest, lease.requests - lease.used);
            lease.used += more;
            rest -= more;
        }
        unassigned = bounded(unassigned + rest);
    }

    /** Forgets the requests without a lease, because nothing limits them. */
    void exempt() {
        unassigned = 0;
    }

    private static long bounded(long unsigned) {
        return unsigned < 0 ? Limit.MAX_PERMITS : Math.min(Limit.MAX_PERMITS, unsigned);
    }

    /** Returns whether the proxy has probably removed the bucket. */
    boolean isIdle(long nowNanos) {
        return nowNanos - reportedNanos >= idleNanos;
    }

    /** Returns the requests that the proxy probably has within a time, 1 or more. */
    long demand(long nanos) {
        return requestsPerNano < 0
                ? FIRST
                : (long) Math.max(1, Math.min(1e9, Math.ceil(requestsPerNano * nanos * HEADROOM)));
    }

    /** Adds a lease. */
    void add(Receipt receipt, long requests, long endNanos) {
        leases.add(new Lease(receipt, requests, endNanos));
    }

    /** Removes the leases that the proxy can no longer use. Requests without a lease are added to the first one. */
    List<Ended> ended(long nowNanos) {
        List<Ended> ended = new ArrayList<>();
        while (!leases.isEmpty() && nowNanos - leases.peek().endNanos >= GRACE_NANOS) {
            Lease lease = leases.remove();
            ended.add(new Ended(lease.receipt, lease.requests, lease.used + unassigned));
            unassigned = 0;
        }
        return ended;
    }

    /** Returns a number that differs from that of the assignment before. */
    int next() {
        assignments = assignments == 1 ? 0 : 1;
        return assignments;
    }
}
