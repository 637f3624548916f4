// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.MessageBytes;

/** A reply of {@code acquire.lua} that a test composes: each group with the states of its keys. */
public final class FakeReply {
    /** The instant of the script, in microseconds. */
    public static final long NOW = 59_876_543_210_123L;

    private static final int FOREIGN = 65_535;
    private static final long WINDOW_MILLIS = 3_600_000;

    private final MessageBytes out = MessageBytes.withCapacity(64);

    public FakeReply() {
        out.put(NOW, 7);
    }

    /** Returns a reply that allows all requests of a batch, on untouched keys. */
    public static byte[] allowing(Batch batch) {
        FakeReply reply = new FakeReply();
        SentGroup.of(batch).forEach(group -> {
            reply.allowed(group.count());
            group.maxDelayMicros().forEach(limit -> reply.untouched());
        });
        return reply.bytes();
    }

    /** Adds a group. Its states follow. */
    public FakeReply allowed(int count) {
        out.put(count, 2);
        return this;
    }

    /** Adds a group with a foreign value. */
    public FakeReply foreign() {
        return allowed(FOREIGN);
    }

    /** Adds the state of an untouched limit. */
    public FakeReply untouched() {
        out.put(0, 1);
        return this;
    }

    public FakeReply fixedWindow(long start, long spent) {
        head('f');
        out.put(start, 7);
        out.put(spent, 6);
        return this;
    }

    public FakeReply slidingWindow(long start, long current, long previous) {
        head('s');
        out.put(start, 7);
        out.put(current, 6);
        out.put(previous, 6);
        return this;
    }

    public FakeReply bucket(long anchor, long debt, int exponent) {
        head('l');
        out.put(anchor, 7);
        out.put(debt, 7);
        out.put(exponent, 1);
        out.put(NOW, 7);
        return this;
    }

    /** Adds the debt of a limit, whose letter is given. */
    public FakeReply debt(char letter, long a, long b, long c) {
        head('d');
        out.put(NOW + 1, 7);
        out.put(21, 2);
        out.put(letter, 1);
        out.put(a, 7);
        out.put(b, 7);
        out.put(c, 6);
        return this;
    }

    /** Adds the summary of a log, with the entry that a request awaits. */
    public FakeReply log(long oldest, long newest, long permits, long entry) {
        out.put('g', 1);
        out.put(oldest, 7);
        out.put(newest, 7);
        out.put(permits, 6);
        out.put(entry, 7);
        return this;
    }

    private void head(char letter) {
        out.put(letter, 1);
        out.put(WINDOW_MILLIS, 5);
    }

    public byte[] bytes() {
        return out.toArray();
    }
}
