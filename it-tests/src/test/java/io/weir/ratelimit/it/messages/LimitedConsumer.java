// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.messages;

import io.weir.ratelimit.RateLimit;
import jakarta.ejb.MessageDriven;
import jakarta.inject.Inject;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;

/** A consumer under a policy. */
@MessageDriven
public class LimitedConsumer implements MessageListener {
    @Inject
    Handled handled;

    @Override
    @RateLimit("limited")
    public void onMessage(Message message) {
        handled.add("limited");
    }
}
