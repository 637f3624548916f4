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
    private static final int AFTER_LETTER = 12;
    private static final int BEFORE_DELAY = 13;

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
        SentGroup run = new SentGroup(count > 0, Math.max(count, 1), List.of(), new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < keys; i++) {
            run.costs.add(sixBytes(in));
            int limits = in.getShort();
            for (int limit = 0; limit < limits; limit++) {
                int letter = in.get();
                in.position(in.position() + AFTER_LETTER);
                boolean bucket = letter == 't' || letter == 'l';
                in.position(in.position() + (bucket ? BEFORE_DELAY : 0));
                run.maxDelayMicros.add(bucket ? sixBytes(in) : 0);
            }
        }
        return run;
    }

    private static long sixBytes(ByteBuffer in) {
        return (in.getShort() & 0xffffL) << 32 | in.getInt() & 0xffff_ffffL;
    }
}
