// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * The limits of one key as text, which are checked like those of its policy.
 *
 * @param number identifies them in the result
 */
public record KeyValues(long number, String policy, Map<String, String> values, ValueLayer layer) {
    /** Copies the map, in the order of the attributes. */
    public KeyValues {
        values = Collections.unmodifiableMap(new TreeMap<>(values));
    }
}
