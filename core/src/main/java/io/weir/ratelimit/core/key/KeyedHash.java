// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A hash of 128 bits by HMAC-SHA-256 with a secret, as 22 characters of base64url. */
final class KeyedHash {
    private static final int BYTES = 16;
    static final String HMAC = "HmacSHA256";

    private final SecretKeySpec key;
    private final Mac mac;

    private KeyedHash(byte[] secret) {
        this.key = new SecretKeySpec(secret, HMAC);
        this.mac = keyed(key);
    }

    static KeyedHash of(String secret) {
        return new KeyedHash(secret.getBytes(StandardCharsets.UTF_8));
    }

    String hash(byte[] value) {
        return text(ownCopy().doFinal(value));
    }

    /** Returns the first 128 bits of a hash as text. */
    static String text(byte[] hash) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, BYTES));
    }

    /** Returns a copy, because a Mac is not thread-safe; a new one if the platform's Mac cannot be cloned. */
    private Mac ownCopy() {
        try {
            return (Mac) mac.clone();
        } catch (CloneNotSupportedException e) {
            return keyed(key);
        }
    }

    /** Returns HMAC-SHA-256 with a key. */
    static Mac keyed(SecretKeySpec key) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(key);
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(HMAC + " is part of every Java platform", e);
        }
    }

    /** Returns a text without the secret. */
    @Override
    public String toString() {
        return HMAC;
    }
}
