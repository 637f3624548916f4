// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.ByteArrayOutputStream;

/** A reply of {@code acquire.lua}, made up. */
final class ScriptedReply {
    /** When it decides, in microseconds. */
    static final long NOW = 59_876_543_210_123L;

    static final int FOREIGN = 65_535;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    ScriptedReply() {
        put(NOW, 7);
    }

    /** Lets in all that a flight asks for, on keys that nobody has charged. */
    static byte[] admitting(Flight flight) {
        ScriptedReply reply = new ScriptedReply();
        flight.keys().forEach(key -> reply.state(NOW, 0, 0));
        Asked.by(flight).forEach(asked -> reply.admitted(asked.count()));
        return reply.bytes();
    }

    ScriptedReply state(long a, long b, long c) {
        put(a, 7);
        put(b, 7);
        put(c, 6);
        return this;
    }

    ScriptedReply admitted(int... counts) {
        for (int count : counts) {
            put(count, 2);
        }
        return this;
    }

    ScriptedReply entry(long micros) {
        put(micros, 7);
        return this;
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    private void put(long value, int width) {
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
            bytes.write((int) (value >> shift));
        }
    }
}
