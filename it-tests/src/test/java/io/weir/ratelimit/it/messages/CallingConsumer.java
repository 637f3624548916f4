// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.messages;

import jakarta.ejb.MessageDriven;
import jakarta.inject.Inject;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;

/** A consumer that calls a limited bean. */
@MessageDriven
public class CallingConsumer implements MessageListener {
    @Inject
    Handled handled;

    @Override
    public void onMessage(Message message) {
        handled.limited("calling");
    }
}
