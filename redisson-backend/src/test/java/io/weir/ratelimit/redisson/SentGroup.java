// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A group of requests as {@code acquire.lua} receives it, read from the argument of a batch.
 *
 * @param spends whether the group is spent if it has room
 * @param count the number of equal requests
 * @param keys the keys of one request
 * @param costs the cost of each key
 * @param maxDelayMicros the longest delay of each key, in microseconds
 */
record SentGroup(boolean spends, int count, List<String> keys, List<Long> costs, List<Long> maxDelayMicros) {
    private static final int NOW = 7;
    private static final int LIMIT = 27;

    static List<SentGroup> of(Batch batch) {
        ByteBuffer in = ByteBuffer.wrap(ScriptCodec.encode(batch, 1));
        in.position(NOW + LIMIT * batch.keys().size());
        List<SentGroup> groups = new ArrayList<>();
        while (in.hasRemaining()) {
            int operation = in.get();
            SentGroup group = new SentGroup(
                    operation == 1, in.getShort() & 0xffff, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
            int parts = in.getShort();
            for (int part = 0; part < parts; part++) {
                group.keys.add((String) batch.keys().get(in.getShort() - 1));
                group.costs.add(sixBytes(in));
                group.maxDelayMicros.add(sixBytes(in));
            }
            groups.add(group);
        }
        return groups;
    }

    private static long sixBytes(ByteBuffer in) {
        return (in.getShort() & 0xffffL) << 32 | in.getInt() & 0xffff_ffffL;
    }
}
