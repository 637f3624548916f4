// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A script call that waits for a write of {@link MasterWrites}, or is in one. Completes with the reply, or with the failure of this call
 * alone.
 */
final class QueuedCall extends CompletableFuture<byte[]> {
    private final String digest;
    private final List<Object> keys;
    private final byte[] argument;
    private final long deadlineNanos;

    /** Creates a call about keys of one slot that is not sent. It may be sent until its deadline. */
    QueuedCall(String digest, List<Object> keys, byte[] argument, long deadlineNanos) {
        this.digest = digest;
        this.keys = keys;
        this.argument = argument;
        this.deadlineNanos = deadlineNanos;
    }

    int keyCount() {
        return keys.size();
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /** Returns the arguments of {@code EVALSHA}. */
    Object[] arguments() {
        Object[] arguments = new Object[keys.size() + 3];
        arguments[0] = digest;
        arguments[1] = keys.size();
        for (int i = 0; i < keys.size(); i++) {
            arguments[2 + i] = keys.get(i);
        }
        arguments[arguments.length - 1] = argument;
        return arguments;
    }
}
