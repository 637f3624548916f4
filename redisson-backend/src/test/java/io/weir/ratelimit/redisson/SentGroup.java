// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

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
    private static final int CLOCK = 8;
    private static final int SHORT_LIMIT = 11;
    private static final int LONG_LIMIT = 26;

    static List<SentGroup> of(Batch batch) {
        ByteBuffer in = ByteBuffer.wrap(AcquireCodec.encode(batch, 1));
        in.position(CLOCK);
        return batch.isPlain() ? ofPlain(batch, in) : ofOther(batch, in);
    }

    /** Skips the limits of a key. */
    private static void skipLimits(ByteBuffer in) {
        int form = in.get();
        if (form == 1) {
            in.getShort();
            in.position(in.getShort() + in.position());
        } else if (form != 0) {
            in.position(in.position() + (form > 0 ? SHORT_LIMIT : LONG_LIMIT));
        }
    }

    private static List<SentGroup> ofPlain(Batch batch, ByteBuffer in) {
        List<SentGroup> groups = new ArrayList<>();
        int key = 0;
        int groupKeys = 1;
        while (key < batch.keys().size()) {
            int limitForm = in.get(in.position());
            if (limitForm == 2) {
                in.get();
                groupKeys = in.getShort();
                in.position(in.getShort() + in.position());
            } else {
                groupKeys = limitForm == 0 ? groupKeys : 1;
                skipLimits(in);
            }
            int form = in.hasRemaining() ? in.get() : 1;
            int number =
                    in.hasRemaining() ? in.getShort() & 0xffff : (batch.keys().size() - key) / groupKeys;
            for (int i = 0; i < (form == 1 ? number : 1); i++) {
                List<Object> keys = batch.keys().subList(key, key + groupKeys);
                key += groupKeys;
                groups.add(form < 3 ? simple(form == 1 ? 1 : number, keys) : plain(form, number, batch, keys, in));
            }
        }
        return groups;
    }

    private static SentGroup plain(int form, int count, Batch batch, List<Object> keys, ByteBuffer in) {
        List<String> texts = keys.stream().map(String.class::cast).toList();
        SentGroup group = new SentGroup(form == 3, count, texts, new ArrayList<>(), new ArrayList<>());
        for (Object key : keys) {
            group.costs.add(sixBytes(in));
            for (int limit = 0;
                    limit < batch.limits().get(batch.keys().indexOf(key)).size();
                    limit++) {
                group.maxDelayMicros.add(sixBytes(in));
            }
        }
        return group;
    }

    private static SentGroup simple(int count, List<Object> keys) {
        return new SentGroup(
                true,
                count,
                keys.stream().map(String.class::cast).toList(),
                Collections.nCopies(keys.size(), 1L),
                Collections.nCopies(keys.size(), 0L));
    }

    private static List<SentGroup> ofOther(Batch batch, ByteBuffer in) {
        for (int key = 0; key < batch.keys().size(); key++) {
            skipLimits(in);
        }
        List<SentGroup> groups = new ArrayList<>();
        Set<String> known = new LinkedHashSet<>();
        while (in.hasRemaining()) {
            int form = in.get();
            SentGroup group;
            if (form <= 2) {
                int count = form == 1 ? 1 : in.getShort() & 0xffff;
                int parts = form == 1 ? 1 : in.getShort();
                group = simple(count, batch.keys().subList(known.size(), known.size() + parts));
            } else {
                group = new SentGroup(
                        form == 3, in.getShort() & 0xffff, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
                int parts = in.getShort();
                for (int part = 0; part < parts; part++) {
                    int key = in.getShort() - 1;
                    group.keys.add((String) batch.keys().get(key));
                    group.costs.add(sixBytes(in));
                    for (int limit = 0; limit < batch.limits().get(key).size(); limit++) {
                        group.maxDelayMicros.add(sixBytes(in));
                    }
                }
            }
            known.addAll(group.keys);
            groups.add(group);
        }
        return groups;
    }

    private static long sixBytes(ByteBuffer in) {
        return (in.getShort() & 0xffffL) << 32 | in.getInt() & 0xffff_ffffL;
    }
}
