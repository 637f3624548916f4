// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Algorithm;

/**
 * A policy that an annotation defines. The configuration overrides each attribute.
 *
 * @param place the annotated method or class
 * @param limit the limits, empty if the annotation has none
 * @param key the key expression, empty if the annotation has none
 */
public record InlinePolicy(String place, String policy, String limit, String key, Algorithm algorithm) {

    /** Tests whether another annotation defines the same limits, key and algorithm. */
    boolean hasSameAttributesAs(InlinePolicy other) {
        return limit.equals(other.limit) && key.equals(other.key) && algorithm == other.algorithm;
    }
}
