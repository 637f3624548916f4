// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import java.time.Duration;

/**
 * A task of another module that the application repeats while it runs. A CDI bean of this type is found at deployment. Its first run is one
 * interval after the start, on a thread of the container.
 */
public interface RepeatedTask extends Runnable {
    /**
     * Returns the time between now, which is the start or the end of a run, and the next run.
     *
     * @return 1 ms or more
     */
    Duration interval();
}
