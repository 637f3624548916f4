// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import java.util.ArrayList;
import java.util.List;

/**
 * Divides operations by the times at which their state can have been lost. After a loss, a key starts with new state: each part obeys the
 * limit by itself. An operation that overlaps a loss belongs to the part before or after it, so it counts in neither.
 */
final class Epochs {
    private Epochs() {}

    /**
     * Returns the parts.
     *
     * @param operations operations in the order of their starts
     * @param losses the losses in the order of their starts
     */
    static List<List<Operation>> of(List<Operation> operations, List<Span> losses) {
        List<List<Operation>> parts = new ArrayList<>();
        long from = Long.MIN_VALUE;
        for (int i = 0; i <= losses.size(); i++) {
            long begin = from;
            long to = i < losses.size() ? losses.get(i).from() : Long.MAX_VALUE;
            parts.add(operations.stream()
                    .filter(operation -> operation.start() > begin && operation.end() < to)
                    .toList());
            from = i < losses.size() ? losses.get(i).to() : to;
        }
        return parts;
    }
}
