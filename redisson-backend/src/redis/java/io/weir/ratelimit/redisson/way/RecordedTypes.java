// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.way;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;

/** The types whose methods run while they are recorded. {@link RecordingLoader} makes each method of Weir call {@link #runs}. */
public final class RecordedTypes {
    private static final Set<String> TYPES = new ConcurrentSkipListSet<>();
    private static volatile boolean recording;

    private RecordedTypes() {}

    /** Records a type. Each recorded method calls this at its start. */
    public static void runs(String type) {
        if (recording) {
            TYPES.add(type);
        }
    }

    /** Returns the types whose methods run during a task, on any thread. A nested type counts as its outermost type. */
    public static Set<String> during(Runnable task) {
        TYPES.clear();
        recording = true;
        try {
            task.run();
        } finally {
            recording = false;
        }
        return new TreeSet<>(TYPES);
    }
}
