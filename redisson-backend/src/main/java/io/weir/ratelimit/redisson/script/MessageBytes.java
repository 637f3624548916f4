// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import java.util.Arrays;

/** The bytes of an argument or a reply of a script, and a position in them. All numbers are unsigned and big-endian. */
public final class MessageBytes {
    private byte[] bytes;
    private int position;

    private MessageBytes(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Creates an empty message. It grows beyond its capacity if necessary. */
    public static MessageBytes withCapacity(int capacity) {
        return new MessageBytes(new byte[capacity]);
    }

    /** Creates a message that is read from its beginning. */
    static MessageBytes of(byte[] reply) {
        return new MessageBytes(reply);
    }

    public void put(long value, int width) {
        if (position + width > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length + width);
        }
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
            bytes[position] = (byte) (value >> shift);
            position++;
        }
    }

    long get(int width) {
        long value = 0;
        for (int i = 0; i < width; i++) {
            value = value << 8 | (bytes[position] & 0xff);
            position++;
        }
        return value;
    }

    /** Skips some bytes of a message that is read. */
    void skip(int width) {
        position += width;
    }

    /** Returns the bytes up to the position. */
    public byte[] toArray() {
        return position == bytes.length ? bytes : Arrays.copyOf(bytes, position);
    }
}
