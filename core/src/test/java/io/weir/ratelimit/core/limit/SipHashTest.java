// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SipHashTest {

    /** The vectors of the reference implementation for the bytes 0, 1, 2, … and the key of the bytes 0 to 15. */
    @ParameterizedTest
    @CsvSource({
        "0, 310e0edd47db6f72",
        "2, 5a4fa9d909806c0d",
        "4, b7877127e09427cf",
        "6, cee3fe586e46c9cb",
        "8, 6224939a79f5f593",
        "16, db9bc2577fcc2a3f",
        "18, 9cd38d96f0b3c14b"
    })
    void hashesTheVectorsOfTheReferenceImplementation(int bytes, String hash) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < bytes; i += 2) {
            text.append((char) (i | i + 1 << 8));
        }
        SipHash sipHash = new SipHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
        assertThat(Long.reverseBytes(sipHash.hash(text.toString()))).isEqualTo(HexFormat.fromHexDigitsToLong(hash));
    }

    @Test
    void eachRandomKeyHashesOtherwise() {
        assertThat(SipHash.random().hash("i.203.0.113.7"))
                .isNotEqualTo(SipHash.random().hash("i.203.0.113.7"));
    }
}
