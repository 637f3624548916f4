// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Instant;
import java.util.List;

/**
 * A result of reading the configuration, and when it first occurred. The problems are those of invalid parts, whose previous values apply.
 */
public record Reading(Instant at, ReloadListener.Result result, List<ConfigurationProblem> problems) {
    public Reading {
        problems = List.copyOf(problems);
    }
}
