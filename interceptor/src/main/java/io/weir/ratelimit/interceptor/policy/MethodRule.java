// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import java.util.List;
import java.util.Optional;

/**
 * What the annotations say about one method.
 *
 * @param endpoint {@code Class.method}, by which configuration and metrics know the method
 * @param policies the names of the policies that hold for it, in order, one or more
 * @param cost permits a call spends, 0 if the annotation leaves that to the policies
 * @param inPlace what the annotation defines itself, if anything
 */
public record MethodRule(String endpoint, List<String> policies, long cost, Optional<InPlace> inPlace) {
    /** Copies the list. */
    public MethodRule {
        policies = List.copyOf(policies);
    }
}
