// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A key for signatures (HMAC-SHA-256) of one purpose, derived from the key secret, so that no other hash by the secret is a signature. */
public final class DerivedKey {
    public static final int BYTES = 32;

    private static final String HMAC = "HmacSHA256";

    private final SecretKeySpec key;

    /** Derives a key from the key secret for a purpose that no other class uses. */
    public DerivedKey(String secret, String purpose) {
        SecretKeySpec master = new SecretKeySpec(secret.getBytes(UTF_8), HMAC);
        this.key = new SecretKeySpec(hmac(master, purpose.getBytes(UTF_8)), HMAC);
    }

    public byte[] sign(byte[] text) {
        return hmac(key, text);
    }

    /** Tests whether a signature is that of a text, in a time that does not depend on the signature. */
    public boolean verifies(byte[] signature, byte[] text) {
        return MessageDigest.isEqual(signature, sign(text));
    }

    private static byte[] hmac(SecretKeySpec with, byte[] text) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(with);
            return mac.doFinal(text);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(HMAC + " is part of every Java platform", e);
        }
    }

    /** Returns a text without the key. */
    @Override
    public String toString() {
        return HMAC;
    }
}
