// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.PeriodEnd;
import io.weir.ratelimit.operations.Operations;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** A request that identifies one caller. An invalid request is an {@link IllegalArgumentException}. */
final class Lookup {
    /** The fields that identify a caller. A request has exactly one of them. */
    private static final Set<String> IDENTIFIERS = Set.of("values", "hashedKey", "text");

    private final Map<String, Object> fields;

    private Lookup(Map<String, Object> fields) {
        this.fields = fields;
    }

    static Lookup of(Map<String, Object> fields, Set<String> otherFields) {
        Set<String> known = new HashSet<>(IDENTIFIERS);
        known.addAll(otherFields);
        known.addAll(Set.of("policy", "alternative"));
        PostedChange.checkNames(fields, known);
        if (fields.keySet().stream().filter(IDENTIFIERS::contains).count() != 1) {
            throw new IllegalArgumentException("the request must have exactly one of values, hashedKey and text");
        }
        if (fields.containsKey("alternative") != fields.containsKey("values")) {
            throw new IllegalArgumentException("alternative and values must be used together");
        }
        return new Lookup(fields);
    }

    /** Returns the quotas of a caller as a JSON object. */
    static Map<String, Object> peek(Map<String, Object> fields, Operations operations, Supplier<FleetCallers> fleet) {
        Lookup lookup = of(fields, Set.of("tier"));
        CallerOperations.Caller caller = lookup.caller(operations, fleet);
        String tier = fields.containsKey("tier") ? lookup.text("tier") : "";
        List<Quota> quotas = operations.peek(caller, tier);
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("policy", caller.policy());
        found.put("key", caller.key());
        found.put("quotas", quotas.stream().map(Lookup::quota).toList());
        found.put(
                "blockedMillis",
                quotas.stream()
                        .mapToLong(
                                quota -> quota.blockedFor().plusNanos(999_999).toMillis())
                        .max()
                        .orElse(0));
        return found;
    }

    /** Returns the caller. A hashed key that this instance does not list can be one that another instance lists. */
    CallerOperations.Caller caller(Operations operations, Supplier<FleetCallers> fleet) {
        String policy = text("policy");
        if (fields.containsKey("hashedKey")) {
            try {
                return operations.callerByMaskedKey(policy, text("hashedKey"));
            } catch (IllegalArgumentException e) {
                return fleet.get().find(policy, text("hashedKey")).orElseThrow(() -> e);
            }
        }
        if (fields.containsKey("text")) {
            return operations.caller(policy, Identity.of(text("text")));
        }
        String alternative = text("alternative");
        if (!alternative.matches("[0-9]{1,3}") || !(fields.get("values") instanceof List<?> values)) {
            throw new IllegalArgumentException("alternative must be a position from 0, and values must be an array");
        }
        return operations.caller(
                policy,
                Integer.parseInt(alternative),
                values.stream().map(String.class::cast).toList());
    }

    /** Returns a field that must be a string. */
    String text(String name) {
        return PostedChange.text(fields, name);
    }

    private static Map<String, Object> quota(Quota quota) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("name", quota.name());
        view.put("permits", quota.permits());
        view.put("windowMillis", quota.window().toMillis());
        view.put("capacity", quota.capacity());
        view.put("remaining", quota.remaining());
        view.put("periodEnd", quota.periodEnd().map(PeriodEnd::text).orElse(""));
        view.put("resetAfterMillis", quota.resetAfter().plusNanos(999_999).toMillis());
        return view;
    }
}
