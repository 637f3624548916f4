// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.key;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What spans, logs and events may show of an identity: never a name, an address or a secret. With a secret that is the stored
 * form, which is hashed under it, so that an operator finds the key in Redis. Without one it is the kind and a hash under a
 * secret of this process.
 */
public final class KeyMasker {
    private static final int SECRET_BYTES = 16;

    /** How many of the latest keys are remembered; a power of two. */
    private static final int LATEST = 1_024;

    /** Null if stored identities are hashed already. */
    private final byte @Nullable [] secret;

    /** Each key at the place that its hash code gives it, until another one takes it: a busy caller's is made once. */
    private final AtomicReferenceArray<@Nullable Shown> latest = new AtomicReferenceArray<>(LATEST);

    private record Shown(String storedKey, String text) {}

    /**
     * The form in which keys are shown.
     *
     * @param keySecret the secret under which stored identities are hashed, if there is one
     */
    public KeyMasker(Optional<String> keySecret) {
        this.secret = keySecret.isPresent() ? null : new byte[SECRET_BYTES];
        if (secret != null) {
            new SecureRandom().nextBytes(secret);
        }
    }

    /**
     * What may be shown of an identity.
     *
     * @param storedKey the identity in its stored form
     * @return printable ASCII
     */
    public String of(String storedKey) {
        int kind = storedKey.indexOf('.');
        // The keys that all callers share have no value to hide.
        if (secret == null || kind < 0) {
            return storedKey;
        }
        int place = storedKey.hashCode() & (LATEST - 1);
        Shown shown = latest.get(place);
        if (shown == null || !shown.storedKey.equals(storedKey)) {
            shown = new Shown(storedKey, storedKey.substring(0, kind) + ".~" + hash(secret, storedKey));
            latest.set(place, shown);
        }
        return shown.text;
    }

    /**
     * The identity that is shown as a text, where the text tells it: as its stored form under a configured secret, and of the keys that all
     * callers share.
     *
     * @param shown a text of anybody's
     * @return the identity in its stored form, empty if the text does not tell it or cannot have been shown
     */
    public Optional<String> stored(String shown) {
        boolean tells = secret == null ? IdentityEncoder.isHashed(shown) : IdentityEncoder.isShared(shown);
        return tells ? Optional.of(shown) : Optional.empty();
    }

    /**
     * SHA-256 of the secret and the identity, cut to half: what is left out keeps anybody from going on with the hash. A third of
     * the time of an HMAC, which each recorded span would pay.
     */
    private static String hash(byte[] secret, String storedKey) {
        byte[] text = storedKey.getBytes(StandardCharsets.US_ASCII);
        byte[] whole = Arrays.copyOf(secret, secret.length + text.length);
        System.arraycopy(text, 0, whole, secret.length, text.length);
        return KeyedHash.text(IdentityEncoder.sha256(whole));
    }
}
