// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import javax.crypto.spec.SecretKeySpec;

/** A key for signatures (HMAC-SHA-256) of one purpose, derived from the key secret, so that no other hash by the secret is a signature. */
public final class DerivedKey {
    public static final int BYTES = 32;

    private final SecretKeySpec key;

    /** Derives a key from the key secret for a purpose that no other class uses. */
    public DerivedKey(String secret, String purpose) {
        SecretKeySpec master = new SecretKeySpec(secret.getBytes(UTF_8), KeyedHash.HMAC);
        this.key = new SecretKeySpec(KeyedHash.keyed(master).doFinal(purpose.getBytes(UTF_8)), KeyedHash.HMAC);
    }

    public byte[] sign(byte[] text) {
        return KeyedHash.keyed(key).doFinal(text);
    }

    /** Tests whether a signature is that of a text, in a time that does not depend on the signature. */
    public boolean verifies(byte[] signature, byte[] text) {
        return MessageDigest.isEqual(signature, sign(text));
    }

    /** Returns a text without the key. */
    @Override
    public String toString() {
        return KeyedHash.HMAC;
    }
}
