// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.History;
import java.util.List;

/** A documented promise. Its check is a function of a history, so a history always has the same violations. */
public interface Promise {
    /** Returns the name, which the table of results has as well. */
    String name();

    /**
     * Checks a history.
     *
     * @return the violations, at most one of each key or instance: the first one
     */
    List<Violation> check(History history);
}
