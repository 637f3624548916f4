// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.callers;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import jakarta.websocket.OnError;
import jakarta.websocket.OnMessage;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerEndpoint;
import java.io.IOException;

/** A web socket whose own method is limited. */
@ServerEndpoint("/user/direct")
public class Direct {
    /** Answers a message. */
    @OnMessage
    @RateLimit("direct")
    public String answer(String text, Session session) {
        return "allowed";
    }

    /** Answers a rejected message. */
    @OnError
    public void failed(Session session, Throwable failure) throws IOException {
        session.getBasicRemote()
                .sendText(failure instanceof RateLimitExceededException ? "rejected" : failure.toString());
    }
}
