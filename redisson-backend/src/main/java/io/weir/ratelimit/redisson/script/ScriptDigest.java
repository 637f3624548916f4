// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The digest by which Redis identifies a script, which is SHA-1 (RFC 3174). It protects nothing, so it does not come from a security
 * provider: those of a JVM in FIPS mode do not all have the algorithm.
 */
final class ScriptDigest {
    private static final int BLOCK = 64;
    private static final int ROUNDS = 80;
    private static final int LENGTH_BYTES = 8;

    private ScriptDigest() {}

    /** Returns the digest in hexadecimal. */
    static String of(byte[] text) {
        int[] state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
        int blocks = (text.length + LENGTH_BYTES) / BLOCK + 1;
        ByteBuffer padded = ByteBuffer.wrap(Arrays.copyOf(text, blocks * BLOCK));
        padded.put(text.length, (byte) 0x80);
        padded.putLong(blocks * BLOCK - LENGTH_BYTES, 8L * text.length);
        for (int block = 0; block < blocks; block++) {
            add(state, padded);
        }
        StringBuilder digest = new StringBuilder();
        for (int word : state) {
            digest.append(String.format("%08x", word));
        }
        return digest.toString();
    }

    private static void add(int[] state, ByteBuffer text) {
        int[] words = new int[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            words[i] = i < BLOCK / Integer.BYTES
                    ? text.getInt()
                    : Integer.rotateLeft(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
        }
        int a = state[0];
        int b = state[1];
        int c = state[2];
        int d = state[3];
        int e = state[4];
        for (int i = 0; i < ROUNDS; i++) {
            int next = Integer.rotateLeft(a, 5) + mixed(i, b, c, d) + e + words[i];
            e = d;
            d = c;
            c = Integer.rotateLeft(b, 30);
            b = a;
            a = next;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
    }

    /** Returns the function of a round with its constant. */
    private static int mixed(int round, int b, int c, int d) {
        return switch (round / 20) {
            case 0 -> ((b & c) | (~b & d)) + 0x5a827999;
            case 1 -> (b ^ c ^ d) + 0x6ed9eba1;
            case 2 -> ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
            default -> (b ^ c ^ d) + 0xca62c1d6;
        };
    }
}
