// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.Batch;
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
 * @param maxDelayMicros the longest delay of each limit, in microseconds
 */
public record SentGroup(boolean spends, int count, List<String> keys, List<Long> costs, List<Long> maxDelayMicros) {
    private static final int CLOCK = 8;
    private static final int WITHOUT_DELAY = 27;

    public static List<SentGroup> of(Batch batch) {
        ByteBuffer in = ByteBuffer.wrap(AcquireCodec.encode(batch, 1));
        in.position(CLOCK);
        List<SentGroup> groups = new ArrayList<>();
        int key = 0;
        while (in.hasRemaining()) {
            int number = in.getShort() & 0xffff;
            int keys = in.getShort() & 0xffff;
            SentGroup run = read(in, keys);
            for (int i = 0; i < number; i++) {
                List<String> ofGroup = batch.keys().subList(key, key + keys).stream()
                        .map(String.class::cast)
                        .toList();
                groups.add(new SentGroup(run.spends, run.count, ofGroup, run.costs, run.maxDelayMicros));
                key += keys;
            }
        }
        return groups;
    }

    private static SentGroup read(ByteBuffer in, int keys) {
        int count = in.getShort() & 0xffff;
        SentGroup run = new SentGroup(in.get() == 1, count, List.of(), new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < keys; i++) {
            run.costs.add(sixBytes(in));
            int limits = in.getShort();
            for (int limit = 0; limit < limits; limit++) {
                in.position(in.position() + WITHOUT_DELAY);
                run.maxDelayMicros.add(sixBytes(in));
            }
        }
        return run;
    }

    private static long sixBytes(ByteBuffer in) {
        return (in.getShort() & 0xffffL) << 32 | in.getInt() & 0xffff_ffffL;
    }
}
