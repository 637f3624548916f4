// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The threads that there were at an instant. */
record TestThreads(Set<Thread> threads) {
    /** Threads that the platform keeps for everyone. */
    private static final Set<String> EVERYONES =
            Set.of("CompletableFutureDelayScheduler", "Common-Cleaner", Stopwatch.THREAD);

    static TestThreads now() {
        return new TestThreads(Set.copyOf(Thread.getAllStackTraces().keySet()));
    }

    /** The names of those that came since and are not the platform's, each as often as there are threads of it. */
    List<String> others() {
        Set<Thread> now = new HashSet<>(Thread.getAllStackTraces().keySet());
        now.removeAll(threads);
        return now.stream()
                .map(Thread::getName)
                .filter(name -> !EVERYONES.contains(name)
                        && !name.startsWith("process reaper")
                        && !name.startsWith("ForkJoinPool.commonPool"))
                .toList();
    }

    /** Waits until there are no others. */
    void awaitEndOfOthers() {
        try {
            Await.until("threads end", Duration.ofSeconds(15), () -> others().isEmpty());
        } catch (AssertionError e) {
            throw new AssertionError("threads left: " + others(), e);
        }
    }
}
