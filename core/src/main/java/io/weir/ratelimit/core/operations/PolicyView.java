// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import java.util.List;
import java.util.Map;

/**
 * What is to be seen of a policy.
 *
 * @param name its name
 * @param mode {@code enforce}, {@code shadow} or {@code off}
 * @param algorithm such as {@code sliding-window}
 * @param key the key expression
 * @param keys its alternatives, each the terms of which it is made, in order: {@code principal | ip + arg:user} is
 *     {@code [[principal], [ip, arg:user]]}
 * @param limits its limits, such as {@code 100/1m}, in order
 * @param tiers the limits of tiers by their names
 * @param cost permits that a call spends unless its method says otherwise
 * @param onFailure {@code open}, {@code closed}, {@code local} or {@code sample}
 * @param settings each value that it is made of and where that comes from
 * @param endpoints the methods that name it, {@code Class.method}
 * @param paths the rule by which it applies to requests without an annotation, empty if there is none
 */
public record PolicyView(
        String name,
        String mode,
        String algorithm,
        String key,
        List<List<String>> keys,
        List<String> limits,
        Map<String, List<String>> tiers,
        long cost,
        String onFailure,
        List<Setting> settings,
        List<String> endpoints,
        String paths) {
    /** Copies the lists. */
    public PolicyView {
        keys = keys.stream().map(List::copyOf).toList();
        limits = List.copyOf(limits);
        tiers = Map.copyOf(tiers);
        settings = List.copyOf(settings);
        endpoints = List.copyOf(endpoints);
    }

    /**
     * One value of a policy and where it comes from.
     *
     * @param property the property that sets it or would, such as {@code ratelimit.policies.api.limit}
     * @param value the value in text
     * @param source the name of the configuration source, the place of the annotation, such as {@code com.example.Search.find(String)}, or {@code default}
     */
    public record Setting(String property, String value, String source) {}
}
