// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.ByteArrayOutputStream;

/** A reply of {@code acquire.lua} that a test composes. */
final class FakeReply {
    /** The instant of the script, in microseconds. */
    static final long NOW = 59_876_543_210_123L;

    static final int FOREIGN = 65_535;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    FakeReply() {
        put(NOW, 7);
    }

    /** Returns a reply that allows all requests of a batch, on untouched keys. */
    static byte[] allowing(Batch batch) {
        FakeReply reply = new FakeReply();
        batch.keys().forEach(key -> reply.state(NOW, 0, 0));
        SentGroup.of(batch).forEach(group -> reply.allowed(group.count()));
        return reply.bytes();
    }

    FakeReply state(long a, long b, long c) {
        put(a, 7);
        put(b, 7);
        put(c, 6);
        return this;
    }

    FakeReply allowed(int... counts) {
        for (int count : counts) {
            put(count, 2);
        }
        return this;
    }

    FakeReply entry(long micros) {
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
