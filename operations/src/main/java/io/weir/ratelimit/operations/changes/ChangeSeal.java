// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.core.key.DerivedKey;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A seal of bodies: one byte that tells whether a signature follows, the signature of 32 bytes, and the body. The signature is HMAC-SHA-256
 * with a key that is derived from the key secret for this purpose only. It covers the namespace and the role of the body.
 */
final class ChangeSeal {
    private static final byte UNSIGNED = 'u';
    private static final byte SIGNED = 's';

    private final String namespace;
    private final @Nullable DerivedKey key;

    ChangeSeal(String namespace, Optional<String> secret) {
        this.namespace = namespace;
        this.key = secret.map(known -> new DerivedKey(known, "weir runtime changes 1"))
                .orElse(null);
    }

    /** Returns a sealed body. */
    byte[] sealed(String role, byte[] body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (key == null) {
            bytes.write(UNSIGNED);
        } else {
            bytes.write(SIGNED);
            bytes.writeBytes(key.sign(text(role, body)));
        }
        bytes.writeBytes(body);
        return bytes.toByteArray();
    }

    /** Returns the body after the first bytes. */
    byte[] opened(String role, byte[] bytes, int from) throws UntrustedChangesException {
        if (from >= bytes.length || (bytes[from] != UNSIGNED && bytes[from] != SIGNED)) {
            throw new UntrustedChangesException("the value has another form");
        }
        boolean signed = bytes[from] == SIGNED;
        if (key == null) {
            if (signed) {
                throw new UntrustedChangesException("the value is signed, but this instance has no key secret");
            }
            return Arrays.copyOfRange(bytes, from + 1, bytes.length);
        }
        int start = from + 1 + DerivedKey.BYTES;
        if (!signed || start > bytes.length) {
            throw new UntrustedChangesException("the value is not signed");
        }
        byte[] body = Arrays.copyOfRange(bytes, start, bytes.length);
        if (!key.verifies(Arrays.copyOfRange(bytes, from + 1, start), text(role, body))) {
            throw new UntrustedChangesException("the signature is wrong");
        }
        return body;
    }

    private byte[] text(String role, byte[] body) {
        ByteArrayOutputStream signed = new ByteArrayOutputStream();
        // Neither a namespace nor a role contains a line feed, so no two pairs have the same text.
        signed.writeBytes((namespace + "\n" + role + "\n").getBytes(UTF_8));
        signed.writeBytes(body);
        return signed.toByteArray();
    }
}
