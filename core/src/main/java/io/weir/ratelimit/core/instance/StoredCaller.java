// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import io.weir.ratelimit.CallerOperations;

/** A caller with its stored key, which can contain a name or an address and must not be shown. */
record StoredCaller(String policy, String storedKey, String key) implements CallerOperations.Caller {
    /** Checks the characters of the stored key, because it becomes part of a key of the backend. */
    StoredCaller {
        if (!storedKey.matches("[!-~&&[^{}:]]{1,4096}")) {
            throw new IllegalArgumentException("the stored key is invalid");
        }
    }

    static String storedKeyOf(CallerOperations.Caller caller) {
        if (caller instanceof StoredCaller stored) {
            return stored.storedKey;
        }
        throw new IllegalArgumentException("the caller was not returned by these operations");
    }

    /** Returns a text without the stored key. */
    @Override
    public String toString() {
        return "Caller[" + policy + ", " + key + "]";
    }
}
