// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs a task after a delay. */
public interface Timer {
    /** The timer of the Java platform, which runs tasks on its own thread. */
    Timer PLATFORM = (nanos, task) -> CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run)
            .execute(task);

    void runAfter(long nanos, Runnable task);
}
