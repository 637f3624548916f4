// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.interceptor.operate.Operations;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A caller that an operator names, of which the fields are those of the request. Whatever does not fit is an {@link IllegalArgumentException}. */
final class Lookup {
    /** The ways to name a caller, of which a request has one. */
    private static final Set<String> WAYS = Set.of("parts", "shown", "code");

    private final Map<String, Object> fields;

    private Lookup(Map<String, Object> fields) {
        this.fields = fields;
    }

    static Lookup of(Map<String, Object> fields, Set<String> further) {
        for (String name : fields.keySet()) {
            if (!name.equals("policy")
                    && !name.equals("alternative")
                    && !WAYS.contains(name)
                    && !further.contains(name)) {
                throw new IllegalArgumentException("there is a field that is not known here");
            }
        }
        if (fields.keySet().stream().filter(WAYS::contains).count() != 1) {
            throw new IllegalArgumentException("a caller is named by one of parts, shown and code");
        }
        if (fields.containsKey("alternative") != fields.containsKey("parts")) {
            throw new IllegalArgumentException("parts are those of an alternative");
        }
        return new Lookup(fields);
    }

    /** The quota of a caller, as an object of JSON. */
    static Map<String, Object> peek(Map<String, Object> fields, Operations operations) {
        Lookup lookup = of(fields, Set.of("tier"));
        Operations.Caller caller = lookup.caller(operations);
        String tier = fields.containsKey("tier") ? lookup.text("tier") : "";
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("policy", caller.policy());
        found.put("key", caller.key());
        found.put(
                "quotas",
                operations.peek(caller, tier).stream().map(Lookup::quota).toList());
        return found;
    }

    Operations.Caller caller(Operations operations) {
        String policy = text("policy");
        if (fields.containsKey("shown")) {
            return operations.shown(policy, text("shown").strip());
        }
        if (fields.containsKey("code")) {
            return operations.caller(policy, Identity.of(text("code")));
        }
        String alternative = text("alternative");
        if (!alternative.matches("[0-9]{1,3}") || !(fields.get("parts") instanceof List<?> parts)) {
            throw new IllegalArgumentException("an alternative is a position from 0, and parts are an array");
        }
        return operations.caller(
                policy,
                Integer.parseInt(alternative),
                parts.stream().map(String.class::cast).toList());
    }

    private String text(String name) {
        if (fields.get(name) instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException(name + " must be a text");
    }

    private static Map<String, Object> quota(Quota quota) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("name", quota.name());
        view.put("permits", quota.permits());
        view.put("windowMillis", quota.window().toMillis());
        view.put("capacity", quota.capacity());
        view.put("remaining", quota.remaining());
        view.put("resetAfterMillis", quota.resetAfter().plusNanos(999_999).toMillis());
        return view;
    }
}
