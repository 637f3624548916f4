// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.core.config.ReloadListener.Result;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Clock;
import java.util.List;

/** Keeps what came of reading configuration last. One thread writes at a time. */
public final class Readings {
    private final Clock clock;
    private volatile Reading last;

    /**
     * Beginning with that of the deployment, which has succeeded.
     *
     * @param clock tells when
     */
    public Readings(Clock clock) {
        this.clock = clock;
        this.last = new Reading(clock.instant(), Result.APPLIED, List.of());
    }

    /**
     * Configuration was read again. What comes of it as before is not new.
     *
     * @param result what came of it
     * @param problems what is wrong
     * @param changed whether something else holds now
     */
    public void read(Result result, List<ConfigurationProblem> problems, boolean changed) {
        Reading before = last;
        if (changed || before.result() != result || !before.problems().equals(problems)) {
            last = new Reading(clock.instant(), result, problems);
        }
    }

    /**
     * What came of it last.
     *
     * @return the reading
     */
    public Reading last() {
        return last;
    }
}
