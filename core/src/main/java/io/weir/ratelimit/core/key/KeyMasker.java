// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A masker of keys for spans, logs and events, which never show a name, an address or a secret.
 *
 * <p>With a key secret, a masked key is the stored key, which is hashed, so that an operator finds it in Redis. Without a key
 * secret, it is the kind and a hash with a random secret of this process.
 */
public final class KeyMasker {
    private static final int SECRET_BYTES = 16;

    /** The number of places in the cache; a power of two. */
    private static final int LATEST = 1_024;

    /** The secret of this process; null if stored keys are hashed already. */
    private final byte @Nullable [] secret;

    /** A cache with one place per hash code, so that the key of a frequent caller is hashed once. */
    private final AtomicReferenceArray<@Nullable MaskedKey> latest = new AtomicReferenceArray<>(LATEST);

    private record MaskedKey(String storedKey, String text) {}

    /** Creates a masker of stored keys, which are hashed if a key secret is configured. */
    public KeyMasker(Optional<String> keySecret) {
        this.secret = keySecret.isPresent() ? null : new byte[SECRET_BYTES];
        if (secret != null) {
            new SecureRandom().nextBytes(secret);
        }
    }

    /** Returns the masked key of a stored key, as printable ASCII. */
    public String of(String storedKey) {
        int kind = storedKey.indexOf('.');
        // The keys that all callers share have no value to hide.
        if (secret == null || kind < 0) {
            return storedKey;
        }
        int place = storedKey.hashCode() & (LATEST - 1);
        MaskedKey masked = latest.get(place);
        if (masked == null || !masked.storedKey.equals(storedKey)) {
            masked = new MaskedKey(storedKey, storedKey.substring(0, kind) + ".~" + hash(secret, storedKey));
            latest.set(place, masked);
        }
        return masked.text;
    }

    /**
     * Returns the stored key of a masked key if the latter determines it: with a key secret, and for the keys that all callers share. Any
     * other text has none.
     */
    public Optional<String> stored(String maskedKey) {
        boolean determined = secret == null ? IdentityEncoder.isHashed(maskedKey) : IdentityEncoder.isShared(maskedKey);
        return determined ? Optional.of(maskedKey) : Optional.empty();
    }

    /**
     * Returns half of the SHA-256 hash of the secret and the stored key. Without the other half, no one can extend the hash. An
     * HMAC would take three times as long for each recorded span.
     */
    private static String hash(byte[] secret, String storedKey) {
        byte[] text = storedKey.getBytes(StandardCharsets.US_ASCII);
        byte[] whole = Arrays.copyOf(secret, secret.length + text.length);
        System.arraycopy(text, 0, whole, secret.length, text.length);
        return KeyedHash.text(IdentityEncoder.sha256(whole));
    }
}
