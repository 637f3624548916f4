// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.messages;

import jakarta.annotation.Resource;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.QueueBrowser;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import java.util.Collections;

/** Sends messages, and counts what has become of them. */
@RequestScoped
@Path("queue")
public class QueueResource {
    @Inject
    Handled handled;

    @Resource(lookup = "jms/factory")
    ConnectionFactory factory;

    @GET
    public String ready() {
        return "ready";
    }

    @POST
    @Path("{name}")
    public void send(@PathParam("name") String name, @QueryParam("messages") int messages) {
        try (JMSContext context = factory.createContext()) {
            for (int message = 0; message < messages; message++) {
                context.createProducer().send(context.createQueue(name), "message " + message);
            }
        }
    }

    /** Returns the numbers of handled messages, of messages in the queue, and of dead letters. */
    @GET
    @Path("{name}")
    public String counts(@PathParam("name") String name) throws JMSException {
        try (JMSContext context = factory.createContext()) {
            return handled.count(name) + " " + waiting(context, name) + " " + waiting(context, "dead-" + name);
        }
    }

    @SuppressWarnings("unchecked") // the interface has no element type
    private static int waiting(JMSContext context, String name) throws JMSException {
        try (QueueBrowser browser = context.createBrowser(context.createQueue(name))) {
            return Collections.list(browser.getEnumeration()).size();
        }
    }
}
