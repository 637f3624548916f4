// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation.Kind;
import java.util.List;

/** Each key in Redis has a time to live, except runtime changes (stored-format.md). */
public final class LifePromise implements Promise {
    /** The reply of Redis for a key without a time to live. */
    private static final long NONE = -1;

    @Override
    public String name() {
        return "time to live";
    }

    @Override
    public List<Violation> check(History history) {
        return history.operations().stream()
                .filter(operation -> operation.kind() == Kind.KEY
                        && operation.value() == NONE
                        && !operation.key().contains(":changes:"))
                .findFirst()
                .map(key -> new Violation(name(), key, "the key has no time to live"))
                .stream()
                .toList();
    }
}
