// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.key;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What spans, logs and events may show of an identity: never a name, an address or a secret. With a secret that is the stored
 * form, which is hashed under it, so that an operator finds the key in Redis. Without one it is the kind and a hash under a
 * secret of this process.
 */
public final class ShownKeys {
    private final @Nullable KeyedHash hash;

    /**
     * The form in which keys are shown.
     *
     * @param secret the secret under which stored identities are hashed, if there is one
     */
    public ShownKeys(Optional<String> secret) {
        this.hash = secret.isPresent() ? null : KeyedHash.random();
    }

    /**
     * What may be shown of an identity.
     *
     * @param identity the identity in its stored form
     * @return printable ASCII
     */
    public String of(String identity) {
        int kind = identity.indexOf('.');
        // The keys that all callers share have no value to hide.
        return hash == null || kind < 0
                ? identity
                : identity.substring(0, kind) + ".~" + hash.hash(identity.getBytes(StandardCharsets.UTF_8));
    }
}
