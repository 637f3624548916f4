// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.lease.Timer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A timer whose tasks are due when the test runs them. */
final class ManualTimer implements Timer {
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    @Override
    public void runAfter(long nanos, Runnable task) {
        waiting.add(task);
    }

    int waiting() {
        return waiting.size();
    }

    /** Runs the tasks that wait now. Tasks that these add wait for the next call. */
    void run() {
        for (int left = waiting.size(); left > 0; left--) {
            waiting.remove().run();
        }
    }
}
