// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Operation;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Spans of time that contain too many operations. Only an operation that is within a span from its start to its end counts, so the result
 * does not depend on the instant at which it was decided.
 */
final class Contained {
    private final List<Operation> byStart;
    private final long[] ends;
    private final long[] tree;

    /** Prepares operations with an end. */
    Contained(List<Operation> operations) {
        this.byStart = operations.stream()
                .sorted(Comparator.comparingLong(Operation::start))
                .toList();
        this.ends = operations.stream().mapToLong(Operation::end).sorted().toArray();
        this.tree = new long[ends.length + 1];
    }

    /**
     * Returns the first operation by which a span has more permits than allowed.
     *
     * @param nanos the length of the spans, excluding their last instant
     * @param most the most permits
     */
    Optional<Operation> firstAbove(long nanos, long most) {
        Arrays.fill(tree, 0);
        Operation first = null;
        for (int i = byStart.size() - 1; i >= 0; i--) {
            Operation operation = byStart.get(i);
            add(position(operation.end()), operation.amount());
            if (sum(Sorted.before(ends, operation.start() + nanos)) > most) {
                Operation last = lastOf(operation.start(), operation.start() + nanos, i, most);
                first = first == null || last.end() <= first.end() ? last : first;
            }
        }
        return Optional.ofNullable(first);
    }

    /** Returns the operation, in the order of their ends, by which a span exceeds a number of permits. */
    private Operation lastOf(long from, long to, int first, long most) {
        List<Operation> within = byStart.subList(first, byStart.size()).stream()
                .takeWhile(operation -> operation.start() < to)
                .filter(operation -> operation.start() >= from && operation.end() < to)
                .sorted(Comparator.comparingLong(Operation::end))
                .toList();
        long sum = 0;
        for (Operation operation : within) {
            sum += operation.amount();
            if (sum > most) {
                return operation;
            }
        }
        throw new IllegalStateException("the span has no more permits than allowed");
    }

    private int position(long end) {
        return Sorted.before(ends, end) + 1;
    }

    private void add(int position, long amount) {
        for (int i = position; i < tree.length; i += i & -i) {
            tree[i] += amount;
        }
    }

    private long sum(int count) {
        long sum = 0;
        for (int i = count; i > 0; i -= i & -i) {
            sum += tree[i];
        }
        return sum;
    }
}
