// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import java.util.List;
import java.util.Map;

/**
 * A policy as operators see it.
 *
 * @param mode {@code enforce}, {@code shadow} or {@code off}
 * @param enforcePercent the share of the keys for which a policy in shadow mode rejects calls, in percent; without an effect in another
 *     mode
 * @param keys the alternatives of the key, each with its terms in order: {@code principal | ip + arg:user} is
 *     {@code [[principal], [ip, arg:user]]}
 * @param cost the permits that a call spends, unless its method has another cost
 * @param onFailure {@code open}, {@code closed}, {@code local} or {@code sample}
 * @param endpoints the methods with an annotation that names the policy, as {@code Class.method}
 * @param paths the path rule, empty if there is none
 */
public record PolicyView(
        String name,
        String mode,
        int enforcePercent,
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
     * A value of an attribute with its property, such as {@code ratelimit.policies.api.limit}. Its source is a configuration source, the
     * place of an annotation such as {@code com.example.Search.find(String)}, or {@code default}.
     */
    public record Setting(String property, String value, String source) {}
}
