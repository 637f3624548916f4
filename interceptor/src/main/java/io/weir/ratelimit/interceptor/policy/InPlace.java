// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Algorithm;

/**
 * What an annotation says about a policy, in place. Configuration overrides each member.
 *
 * @param place the class and method, or the class, it stands on
 * @param policy the policy's name
 * @param limit the limits, empty if it gives none
 * @param key the key expression, empty if it gives none
 * @param algorithm how the limits count
 */
public record InPlace(String place, String policy, String limit, String key, Algorithm algorithm) {

    /**
     * Whether both define the same.
     *
     * @param other another definition of the same policy
     * @return true if they do not contradict each other
     */
    boolean agreesWith(InPlace other) {
        return limit.equals(other.limit) && key.equals(other.key) && algorithm == other.algorithm;
    }
}
