// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The state of one limit in a value of Redis, as the page on the stored format describes it.
 *
 * @param name the letter of the algorithm and the window in milliseconds
 * @param state the bytes that follow
 */
record StoredSection(String name, byte[] state) {

    static List<StoredSection> of(byte[] value) {
        List<StoredSection> sections = new ArrayList<>();
        ByteBuffer in = ByteBuffer.wrap(value);
        while (in.hasRemaining()) {
            char letter = (char) in.get();
            long window = number(in, 5);
            byte[] state = new byte
                    [switch (letter) {
                        case 'f' -> 13;
                        case 's' -> 19;
                        case 't', 'l' -> 22;
                        case 'c' -> 29;
                        case 'g' -> 6 + 11 * in.getShort(in.position());
                        default -> throw new AssertionError("unknown letter " + letter);
                    }];
            in.get(state);
            sections.add(new StoredSection("" + letter + window, state));
        }
        return sections;
    }

    /** Reads an unsigned number. */
    static long number(ByteBuffer in, int width) {
        long value = 0;
        for (int i = 0; i < width; i++) {
            value = value << 8 | (in.get() & 0xff);
        }
        return value;
    }
}
