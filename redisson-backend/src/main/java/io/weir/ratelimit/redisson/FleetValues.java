// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Values that {@code read.lua} has returned at a time of Redis, in milliseconds since 1970, in the order of their keys. A foreign value, of
 * another type or too long, is empty as one that does not exist.
 */
record FleetValues(long millis, List<Optional<byte[]>> values, Set<Integer> foreign) {
    /** Returns foreign values in place of values that are not read. */
    static FleetValues unread(int keys) {
        return new FleetValues(
                0,
                Collections.nCopies(keys, Optional.empty()),
                IntStream.range(0, keys).boxed().collect(Collectors.toSet()));
    }

    static FleetValues of(byte[] reply, int keys) {
        ByteBuffer rest = ByteBuffer.wrap(reply);
        StringBuilder millis = new StringBuilder();
        for (byte next = rest.get(); next != '\n'; next = rest.get()) {
            millis.append((char) next);
        }
        List<Optional<byte[]>> values = new ArrayList<>();
        Set<Integer> foreign = new TreeSet<>();
        for (int i = 0; i < keys; i++) {
            byte kind = rest.get();
            if (kind == 'f') {
                foreign.add(i);
            }
            if (kind == 'v') {
                byte[] value = new byte[rest.getInt()];
                rest.get(value);
                values.add(Optional.of(value));
            } else {
                values.add(Optional.empty());
            }
        }
        return new FleetValues(Long.parseLong(millis.toString()), values, foreign);
    }

    /** Returns the number of bytes of all values. */
    long bytes() {
        return values.stream()
                .flatMap(Optional::stream)
                .mapToLong(value -> value.length)
                .sum();
    }

    boolean isForeign(int position) {
        return foreign.contains(position);
    }

    /** Returns these values and then others. */
    FleetValues and(FleetValues others) {
        List<Optional<byte[]>> all = new ArrayList<>(values);
        all.addAll(others.values);
        Set<Integer> allForeign = new TreeSet<>(foreign);
        others.foreign.forEach(position -> allForeign.add(values.size() + position));
        return new FleetValues(millis, all, allForeign);
    }

    @Override
    public String toString() {
        return "FleetValues[" + values.size() + " values at " + millis + "]";
    }
}
