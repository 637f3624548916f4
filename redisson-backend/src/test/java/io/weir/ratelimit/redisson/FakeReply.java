// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.Limit;
import java.io.ByteArrayOutputStream;
import java.util.List;

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
        batch.limits().stream()
                .flatMap(List::stream)
                .forEach(limit -> reply.put(0, ScriptCodec.hasShortForm(limit) ? shortState(limit) : 20));
        SentGroup.of(batch).forEach(group -> reply.allowed(group.count()));
        return reply.bytes();
    }

    private static int shortState(Limit limit) {
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> 10;
            case SLIDING_WINDOW -> 14;
            case TOKEN_BUCKET, LEAKY_BUCKET -> 10;
            case SLIDING_LOG -> 20;
        };
    }

    /** Adds the state of a fixed window whose limit has a short form. */
    FakeReply fixedWindow(long start, long spent) {
        put(NOW - start, 6);
        put(spent, 4);
        return this;
    }

    /** Adds the state of a limit without a short form, or of a log. */
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
            bytes.write(shift >= Long.SIZE ? 0 : (int) (value >> shift));
        }
    }
}
