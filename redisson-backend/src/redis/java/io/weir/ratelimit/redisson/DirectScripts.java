// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.redisson.script.Script;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends batches to a real Redis without a client, at instants that the test chooses, by which keys expire, as in {@link ManualExpiryClient}.
 */
final class DirectScripts {
    private final RedisConnection redis;
    private final String digest;

    DirectScripts(RedisConnection redis) {
        this.redis = redis;
        this.digest = redis.text("SCRIPT", "LOAD", ManualExpiryClient.around(Script.ACQUIRE));
    }

    /** Sends requests in as few batches as they fit into, and returns the number of batches. */
    int sendTogether(List<AcquireRequest> requests, long nowMicros) {
        int batches = 0;
        Batch batch = null;
        for (AcquireRequest request : requests) {
            if (batch == null || !batch.add(request)) {
                batches += send(batch, nowMicros);
                batch = new Batch(request);
            }
        }
        return batches + send(batch, nowMicros);
    }

    /** Sends each request in a batch of its own. */
    void sendApart(List<AcquireRequest> requests, long nowMicros) {
        requests.forEach(request -> send(new Batch(request), nowMicros));
    }

    private int send(Batch batch, long nowMicros) {
        if (batch == null) {
            return 0;
        }
        List<Object> words =
                new ArrayList<>(List.of("EVALSHA", digest, batch.keys().size()));
        words.addAll(batch.keys());
        words.add(AcquireCodec.encode(batch, nowMicros));
        batch.complete((byte[]) redis.call(words.toArray()));
        return 1;
    }
}
