// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.Operation.Outcome;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.client.outgoing.OutgoingCall;
import io.weir.ratelimit.client.outgoing.OutgoingCalls;
import io.weir.ratelimit.client.outgoing.Permit;
import io.weir.ratelimit.client.outgoing.UpstreamResponse;
import io.weir.ratelimit.spi.CallContext;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The outgoing calls of an instance, and the answers of their upstream, which has no process. */
final class Upstream {
    private static final int OK = 200;
    private static final int TOO_MANY_REQUESTS = 429;

    private final OutgoingCalls calls;
    private final Map<Long, Permit> sent = new ConcurrentHashMap<>();

    Upstream(OutgoingCalls calls) {
        this.calls = calls;
    }

    /**
     * Begins an outgoing call.
     *
     * @param client the client, which has the name of its policy
     */
    Outcome send(long number, String client, String host) {
        // It is marked as no retry: this class tests pauses and not the retry budget.
        OutgoingCall call = new OutgoingCall(
                client,
                host,
                Optional.empty(),
                CallContext.NONE,
                new OutgoingCall.Attempt((int) number, 0, 0),
                Boolean.FALSE,
                null);
        try {
            Permit permit = calls.begin(call);
            sent.put(number, permit);
            return permit.decision() instanceof Decision.Degraded ? Outcome.DEGRADED_ALLOWED : Outcome.ALLOWED;
        } catch (RateLimitExceededException e) {
            return Outcome.REJECTED;
        } catch (RateLimitUnavailableException e) {
            return Outcome.DEGRADED_REJECTED;
        }
    }

    /** Answers a call of this process, with a 429 if it requires a pause. */
    Outcome answer(long call, long pauseNanos) {
        Permit permit = sent.remove(call);
        if (permit == null) {
            return Outcome.FAILED;
        }
        List<String> retryAfter = List.of(String.valueOf(TimeUnit.NANOSECONDS.toSeconds(pauseNanos)));
        calls.answered(
                permit,
                new UpstreamResponse(
                        pauseNanos > 0 ? TOO_MANY_REQUESTS : OK,
                        name -> pauseNanos > 0 && name.equalsIgnoreCase("Retry-After") ? retryAfter : List.of()));
        return Outcome.DONE;
    }
}
