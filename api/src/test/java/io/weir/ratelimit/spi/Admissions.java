// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** What one key was admitted, in order of time. */
final class Admissions {
    private record Admission(long instant, long cost) {}

    private final List<Admission> all = new ArrayList<>();

    void add(long instant, long cost) {
        all.add(new Admission(instant, cost));
    }

    /** The greatest sum of costs in any span from an instant up to, not including, the one a span later. */
    long mostInASpan(long spanMicros) {
        Deque<Admission> span = new ArrayDeque<>();
        long sum = 0;
        long most = 0;
        for (Admission admission : all) {
            span.addLast(admission);
            sum += admission.cost();
            while (span.getFirst().instant() + spanMicros <= admission.instant()) {
                sum -= span.removeFirst().cost();
            }
            most = Math.max(most, sum);
        }
        return most;
    }
}
