// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The allowed calls of one key in order of time. */
final class AllowedCalls {
    private record Call(long instant, long cost) {}

    private final List<Call> all = new ArrayList<>();

    void add(long instant, long cost) {
        all.add(new Call(instant, cost));
    }

    /** Returns the greatest sum of costs in any half-open interval of the given length. */
    long maxCostInASpan(long spanMicros) {
        Deque<Call> span = new ArrayDeque<>();
        long sum = 0;
        long greatest = 0;
        for (Call call : all) {
            span.addLast(call);
            sum += call.cost();
            while (span.getFirst().instant() + spanMicros <= call.instant()) {
                sum -= span.removeFirst().cost();
            }
            greatest = Math.max(greatest, sum);
        }
        return greatest;
    }
}
