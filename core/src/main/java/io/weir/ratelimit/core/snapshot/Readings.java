// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.ReloadListener.Result;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Clock;
import java.util.List;

/** The last result of reading the configuration. One thread writes at a time. */
public final class Readings {
    private final Clock clock;
    private volatile Reading last;

    /** Creates the result of a successful deployment. */
    public Readings(Clock clock) {
        this.clock = clock;
        this.last = new Reading(clock.instant(), Result.APPLIED, List.of());
    }

    /** Records a result, unless it equals the last one and no other values apply now. */
    public void read(Result result, List<ConfigurationProblem> problems, boolean changed) {
        Reading before = last;
        if (changed || before.result() != result || !before.problems().equals(problems)) {
            last = new Reading(clock.instant(), result, problems);
        }
    }

    public Reading last() {
        return last;
    }
}
