// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.callers;

import jakarta.inject.Inject;
import jakarta.websocket.OnMessage;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerEndpoint;

/** Calls the bean for each message of a web socket. */
@ServerEndpoint("/user/chat")
public class Chat {
    @Inject
    Limited limited;

    /** Answers a message. */
    @OnMessage
    public String answer(String text, Session session) {
        return Limited.answer(() -> limited.socket(session));
    }
}
