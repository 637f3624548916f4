// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** Records the operations and the faults of a run. */
final class Recorder {
    private final AtomicLong number = new AtomicLong();
    private final List<Operation> operations = new ArrayList<>();
    private final List<Fault> faults = new ArrayList<>();
    private int decided;

    /** Returns the number of the next operation. */
    long next() {
        return number.incrementAndGet();
    }

    synchronized void add(Operation operation) {
        operations.add(operation);
        decided += operation.isUnknown() ? 0 : 1;
    }

    synchronized void add(Fault fault) {
        faults.add(fault);
    }

    /** Records a time in which the machine was too slow for a process. */
    void slow(int instance, Span span) {
        slow(Fault.SLOW_MACHINE, instance, span);
    }

    /** Records a start for which the machine was too slow. */
    void slowStart(int instance, Span span) {
        slow(Fault.SLOW_START, instance, span);
    }

    private void slow(String name, int instance, Span span) {
        add(new Fault(name, Set.of(Effect.STARVATION), instance, span.from(), span.to()));
    }

    /** Records a key of Redis. */
    void key(String key, long life) {
        long now = System.nanoTime();
        String text = key.replace(' ', '_');
        add(new Operation(next(), Fault.ALL, Kind.KEY, "redis", text, 0, 0, now, now, Outcome.DONE, life, 0, 0));
    }

    /** Returns the number of operations with a known result. */
    synchronized int decided() {
        return decided;
    }

    synchronized List<Operation> operations() {
        return List.copyOf(operations);
    }

    synchronized List<Fault> faults() {
        return List.copyOf(faults);
    }
}
