// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import java.security.SecureRandom;

/**
 * A hash of texts with a secret key, so that a client cannot choose texts with equal hashes. Source: SipHash-2-4, J.-P. Aumasson and D.
 * J. Bernstein, "SipHash: a fast short-input PRF", 2012. The bytes of a text are those of UTF-16LE.
 */
public final class SipHash {
    private static final int CHARS_PER_WORD = 4;

    private final long k0;
    private final long k1;

    /** Creates a hash with both halves of a key. */
    public SipHash(long k0, long k1) {
        this.k0 = k0;
        this.k1 = k1;
    }

    /** Returns a hash with a new random key. */
    public static SipHash random() {
        SecureRandom random = new SecureRandom();
        return new SipHash(random.nextLong(), random.nextLong());
    }

    /** Hashes a text to 64 bits. */
    public long hash(String text) {
        State state = new State(k0, k1);
        int words = text.length() / CHARS_PER_WORD;
        for (int i = 0; i < words; i++) {
            state.add(word(text, i * CHARS_PER_WORD, CHARS_PER_WORD));
        }
        long bytes = (long) text.length() * Character.BYTES;
        int rest = words * CHARS_PER_WORD;
        return state.finish(bytes << 56 | word(text, rest, text.length() - rest));
    }

    private static long word(String text, int from, int count) {
        long word = 0;
        for (int i = count - 1; i >= 0; i--) {
            word = word << Character.SIZE | text.charAt(from + i);
        }
        return word;
    }

    private static final class State {
        private long v0;
        private long v1;
        private long v2;
        private long v3;

        State(long k0, long k1) {
            v0 = k0 ^ 0x736f6d6570736575L;
            v1 = k1 ^ 0x646f72616e646f6dL;
            v2 = k0 ^ 0x6c7967656e657261L;
            v3 = k1 ^ 0x7465646279746573L;
        }

        void add(long word) {
            v3 ^= word;
            round();
            round();
            v0 ^= word;
        }

        long finish(long word) {
            add(word);
            v2 ^= 0xff;
            round();
            round();
            round();
            round();
            return v0 ^ v1 ^ v2 ^ v3;
        }

        private void round() {
            v0 += v1;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            v0 = Long.rotateLeft(v0, 32);
            v2 += v3;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            v0 += v3;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            v2 += v1;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            v2 = Long.rotateLeft(v2, 32);
        }
    }
}
