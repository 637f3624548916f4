// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.messages;

import io.weir.ratelimit.RateLimit;
import jakarta.ejb.MessageDriven;
import jakarta.inject.Inject;
import jakarta.jms.Message;
import jakarta.jms.MessageListener;

/** A consumer under a policy with max-wait. */
@MessageDriven
public class PatientConsumer implements MessageListener {
    @Inject
    Handled handled;

    @Override
    @RateLimit("patient")
    public void onMessage(Message message) {
        handled.add("patient");
    }
}
