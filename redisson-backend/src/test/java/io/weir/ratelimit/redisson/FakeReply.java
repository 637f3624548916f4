// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;

/** A reply of {@code acquire.lua} that a test composes: the states of all keys, and the groups, each in their order. */
final class FakeReply {
    /** The instant of the script, in microseconds. */
    static final long NOW = 59_876_543_210_123L;

    static final int FOREIGN = -1;

    /** The states of each limit. */
    private final List<byte[]> states = new ArrayList<>();

    private final List<Integer> counts = new ArrayList<>();

    /** The entries of logs, by group. */
    private final List<List<Long>> entries = new ArrayList<>();

    /** Returns a reply that allows all requests of a batch, on untouched keys. */
    static byte[] allowing(Batch batch) {
        FakeReply reply = new FakeReply();
        batch.limits().stream().flatMap(List::stream).forEach(limit -> reply.states.add(untouched(limit)));
        SentGroup.of(batch).forEach(group -> reply.allowed(group.count()));
        return reply.bytes(batch);
    }

    private static byte[] untouched(Limit limit) {
        return new byte[LimitCodec.hasShortForm(limit) ? 1 : 20];
    }

    /** Adds the state of a fixed window whose limit has a short form. */
    FakeReply fixedWindow(long start, long spent) {
        MessageBytes state = MessageBytes.withCapacity(8);
        state.put(1, 1);
        state.put(NOW - start, 5);
        state.put(spent, 2);
        states.add(state.toArray());
        return this;
    }

    /** Adds the state of a sliding window whose limit has a short form, with a form for small or for any counts. */
    FakeReply slidingWindow(boolean small, long start, long current, long previous) {
        MessageBytes state = MessageBytes.withCapacity(15);
        state.put(small ? 2 : 3, 1);
        state.put(NOW - start, small ? 5 : 6);
        state.put(current, small ? 2 : 4);
        state.put(previous, small ? 2 : 4);
        states.add(state.toArray());
        return this;
    }

    /** Adds the state of an untouched limit with a short form. */
    FakeReply untouched() {
        states.add(new byte[1]);
        return this;
    }

    /** Adds the state of a limit without a short form, or of a log. */
    FakeReply state(long a, long b, long c) {
        MessageBytes state = MessageBytes.withCapacity(20);
        state.put(a, 7);
        state.put(b, 7);
        state.put(c, 6);
        states.add(state.toArray());
        return this;
    }

    /** Adds groups. */
    FakeReply allowed(int... allowedOfGroups) {
        for (int count : allowedOfGroups) {
            counts.add(count);
            entries.add(new ArrayList<>());
        }
        return this;
    }

    /** Adds an entry to the latest group. */
    FakeReply entry(long micros) {
        entries.get(entries.size() - 1).add(micros);
        return this;
    }

    /** Returns the reply to a batch. */
    byte[] bytes(Batch batch) {
        MessageBytes out = MessageBytes.withCapacity(64);
        out.put(NOW, 7);
        int group = 0;
        int state = 0;
        for (int key = 0; key < batch.keys().size(); key++) {
            if (batch.isPlain()
                    && group < batch.groups().size()
                    && batch.groups().get(group).keyIndex(0) == key) {
                putGroup(out, batch, group);
                group++;
            }
            for (int i = 0; i < batch.limits().get(key).size(); i++) {
                for (byte each : states.get(state)) {
                    out.put(each, 1);
                }
                state++;
            }
        }
        for (; group < counts.size(); group++) {
            putGroup(out, batch, group);
        }
        return out.toArray();
    }

    private void putGroup(MessageBytes out, Batch batch, int group) {
        out.put(counts.get(group), batch.groups().get(group).size() == 1 ? 1 : 2);
        entries.get(group).forEach(entry -> out.put(entry, 7));
    }
}
