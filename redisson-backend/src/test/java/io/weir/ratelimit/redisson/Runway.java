// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.util.ArrayList;
import java.util.List;

/**
 * Where flights land on a real Redis at an instant of the test's, without a client in between. Keys do not expire, as in
 * {@link UnexpiringClient}.
 */
final class Runway {
    private final RedisConnection redis;
    private final String digest;

    Runway(RedisConnection redis) {
        this.redis = redis;
        this.digest = redis.text("SCRIPT", "LOAD", UnexpiringClient.around(Script.ACQUIRE));
    }

    /** Lets checks leave in as few flights as they fit into; answers with how many these were. */
    int together(List<Check> checks, long nowMicros) {
        int flights = 0;
        Flight flight = null;
        for (Check check : checks) {
            if (flight == null || !flight.board(check)) {
                flights += land(flight, nowMicros);
                flight = new Flight(check);
            }
        }
        return flights + land(flight, nowMicros);
    }

    /** Lets each check leave in a flight of its own. */
    void apart(List<Check> checks, long nowMicros) {
        checks.forEach(check -> land(new Flight(check), nowMicros));
    }

    private int land(Flight flight, long nowMicros) {
        if (flight == null) {
            return 0;
        }
        List<Object> words =
                new ArrayList<>(List.of("EVALSHA", digest, flight.keys().size()));
        words.addAll(flight.keys());
        words.add(flight.argument(nowMicros));
        flight.landed((byte[]) redis.call(words.toArray()));
        return 1;
    }
}
