// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Instant;
import java.util.List;

/**
 * A result of reading the configuration.
 *
 * @param at the instant at which this result first occurred
 * @param problems the problems of invalid parts, whose previous values apply; empty if there are none
 */
public record Reading(Instant at, ReloadListener.Result result, List<ConfigurationProblem> problems) {
    /** Copies the list. */
    public Reading {
        problems = List.copyOf(problems);
    }
}
