// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitKey;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.websocket.OnError;
import jakarta.websocket.OnMessage;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerEndpoint;
import java.io.IOException;

/** Messages with a limit for each connection. */
@ServerEndpoint("/chat")
public class ChatEndpoint {
    @Inject
    Messages messages;

    @OnMessage
    public String message(String text, Session session) {
        return messages.answer(session.getId(), text);
    }

    @OnError
    public void rejected(Session session, Throwable failure) throws IOException {
        if (failure instanceof RateLimitExceededException rejection) {
            session.getBasicRemote().sendText(rejection.getMessage());
        }
    }

    /** The limited work of a message. */
    @ApplicationScoped
    public static class Messages {
        @RateLimit("chat")
        public String answer(@RateLimitKey("connection") String connection, String text) {
            return text;
        }
    }
}
