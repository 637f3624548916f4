// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import io.weir.ratelimit.Identity;
import java.util.function.Function;

/**
 * The keys for values that an operator enters, as the terms of a key expression resolve them for a call. Addresses share a key by the
 * number of leading bits.
 */
record NamedValues(int ipv4Prefix, int ipv6Prefix) {
    /**
     * Returns a function from a value of a term to its key. The function throws an {@link IllegalArgumentException} with the
     * problem of an invalid value.
     */
    Function<String, Identity> of(KeyWord word, String name) {
        return switch (word) {
            case GLOBAL -> NamedValues::global;
            case IP -> this::address;
            case PRINCIPAL -> value -> Identity.principal(nonBlank(value, "the user's name"));
            case METHOD -> value -> Identity.method(nonBlank(value, "the method, Class.method,"));
            // The header of a request is stripped, too.
            case HEADER ->
                value -> Identity.header(
                        name, nonBlank(value, "the header " + name).strip());
            case COOKIE -> value -> Identity.cookie(name, nonBlank(value, "the cookie " + name));
            case QUERY -> value -> Identity.query(name, nonBlank(value, "the parameter " + name + " of the query"));
            case PATH -> value -> Identity.path(name, nonBlank(value, "the parameter " + name + " of the path"));
            case CLAIM -> value -> Identity.claim(name, nonBlank(value, "the claim " + name));
            case ARG -> value -> Identity.argument(name, nonBlank(value, "the argument " + name));
        };
    }

    private static String nonBlank(String value, String what) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(what + " must not be blank");
        }
        return value;
    }

    private static Identity global(String value) {
        if (!value.isBlank() && !value.strip().equals(KeyWord.GLOBAL.text())) {
            throw new IllegalArgumentException("the key term global has no value: leave it empty");
        }
        return Identity.GLOBAL;
    }

    private Identity address(String value) {
        String text = nonBlank(value, "the address").strip();
        int slash = text.indexOf('/');
        String shared = IpAddress.parse(slash < 0 ? text : text.substring(0, slash))
                .orElseThrow(() -> new IllegalArgumentException(
                        "the value is not an address: enter one such as 203.0.113.7 or 2001:db8::1"))
                .sharing(ipv4Prefix, ipv6Prefix);
        if (slash >= 0 && !shared.endsWith(text.substring(slash))) {
            throw new IllegalArgumentException(
                    "addresses do not share a key by " + text.substring(slash) + ": that of this one is " + shared);
        }
        return Identity.address(shared);
    }
}
