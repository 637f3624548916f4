// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.core.limit.LimitState;
import java.util.List;
import java.util.function.Function;

/**
 * Reply of {@code acquire.lua} to a batch. The replies to its groups are read one by one, so that a reply that ends early is of use to the
 * groups before its end.
 */
public final class BatchReply {
    private final long nowMicros;
    private final Function<RequestGroup, GroupReply> reader;

    /** Creates a reply at the instant of the script, in microseconds. */
    BatchReply(long nowMicros, Function<RequestGroup, GroupReply> reader) {
        this.nowMicros = nowMicros;
        this.reader = reader;
    }

    long nowMicros() {
        return nowMicros;
    }

    /** Reads the reply to the next group of the batch. */
    public GroupReply next(RequestGroup group) {
        return reader.apply(group);
    }

    /**
     * Reply to a group of equal requests.
     *
     * @param foreign whether a key contains a value that is not the state of a limit, so that nothing else is known
     * @param allowed how many requests the limits have room for, first come, first served
     * @param states the states of the limits of each key as of now, before the group
     * @param blockEndsMicros for each key of a request the end of its block, 0 if it is not blocked; empty if no key is blocked
     * @param awaitedEntriesMicros for each sliding log of a request, the instant of the entry at whose end there is room for the cost, in
     *     microseconds
     */
    record GroupReply(
            boolean foreign,
            int allowed,
            List<LimitState[]> states,
            List<Long> blockEndsMicros,
            List<Long> awaitedEntriesMicros) {
        /** The reply where a key contains a foreign value. */
        static final GroupReply FOREIGN = new GroupReply(true, 0, List.of(), List.of(), List.of());
    }
}
