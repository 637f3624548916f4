// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy.config;

import io.weir.ratelimit.core.key.KeyTerms;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The key terms of the entries of one rule. Two entries of one name have different terms. */
final class KeyTermNames {
    /** The term of the client address. */
    static final String ADDRESS = "ip";

    private static final Set<String> ADDRESSES = Set.of("remote_address", "masked_remote_address", ADDRESS);

    /** The terms of the key language that an entry can answer, with the characters that all names can have. */
    private static final Pattern TERM =
            Pattern.compile("principal|method|(header|cookie|query|path|claim|arg):[A-Za-z0-9._-]{1,64}");

    private final Map<Integer, String> terms = new LinkedHashMap<>();

    /** Adds the entry at a position. */
    void add(int position, String key) {
        String term = term(key);
        String name = term;
        for (int next = 2; terms.containsValue(name); next++) {
            name = plain(term) + "_" + next;
        }
        terms.put(position, name);
    }

    private static String term(String key) {
        if (ADDRESSES.contains(key)) {
            return ADDRESS;
        }
        if (TERM.matcher(key).matches()) {
            return key.startsWith("header:") ? key.toLowerCase(Locale.ROOT) : key;
        }
        return KeyTerms.isName(key) ? key : plain(key);
    }

    /** Returns a name for a key that is no name, such as one with blanks. */
    private static String plain(String key) {
        return "entry_" + key.replaceAll("[^A-Za-z0-9_.-]", "_");
    }

    Map<Integer, String> byPosition() {
        return terms;
    }

    /** Returns the key expression. */
    String expression() {
        return terms.isEmpty() ? "global" : String.join(" + ", terms.values());
    }
}
