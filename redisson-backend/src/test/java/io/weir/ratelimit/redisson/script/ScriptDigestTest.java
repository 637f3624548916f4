// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ScriptDigestTest {
    private static String digest(String text) {
        return ScriptDigest.of(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void isThatOfTheSpecification() {
        assertThat(digest("")).isEqualTo("da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assertThat(digest("abc")).isEqualTo("a9993e364706816aba3e25717850c26c9cd0d89d");
        assertThat(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))
                .isEqualTo("84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    }

    /** Covers each length around the end of a block. */
    @Test
    void isThatOfTheJvmForTextsOfAllLengths() throws NoSuchAlgorithmException {
        long seed = Long.getLong("weir.test.seed", 1);
        Random random = new Random(seed);
        MessageDigest expected = MessageDigest.getInstance("SHA-1");
        for (int length = 0; length < 300; length++) {
            byte[] text = new byte[length];
            random.nextBytes(text);
            assertThat(ScriptDigest.of(text))
                    .as("length %d of -Dweir.test.seed=%d", length, seed)
                    .isEqualTo(HexFormat.of().formatHex(expected.digest(text)));
        }
    }
}
