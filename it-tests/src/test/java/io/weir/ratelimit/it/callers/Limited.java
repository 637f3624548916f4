// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.callers;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.websocket.Session;

/** A bean with one method for each place from which it is called, each with a policy of its own. */
@ApplicationScoped
public class Limited {
    @RateLimit("request")
    public void request() {}

    @RateLimit("stream")
    public void stream() {}

    @RateLimit("supplied")
    public void supplied() {}

    @RateLimit("submitted")
    public void submitted() {}

    @RateLimit("own")
    public void own() {}

    @RateLimit("servlet")
    public void servlet() {}

    @RateLimit("socket")
    public void socket(Session session) {}

    /** Returns whether a call is allowed. */
    static String answer(Runnable call) {
        try {
            call.run();
            return "allowed";
        } catch (RateLimitExceededException e) {
            return "rejected";
        }
    }
}
