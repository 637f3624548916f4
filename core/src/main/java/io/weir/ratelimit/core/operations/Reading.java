// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Instant;
import java.util.List;

/**
 * What came of reading configuration.
 *
 * @param at when this first came of it
 * @param result what came of it
 * @param problems what was wrong and stays as it was before, none if nothing was
 */
public record Reading(Instant at, ReloadListener.Result result, List<ConfigurationProblem> problems) {
    /** Copies the list. */
    public Reading {
        problems = List.copyOf(problems);
    }
}
