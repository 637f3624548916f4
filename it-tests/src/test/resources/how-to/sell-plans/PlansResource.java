// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The shop of the page: sells plans, and records the mails that it would send. */
@ApplicationScoped
@Path("plans")
public class PlansResource implements Mails {
    private final List<String> sent = new CopyOnWriteArrayList<>();

    @Inject
    Customers customers;

    @Override
    public void send(String customer, String text) {
        sent.add(customer + ": " + text);
    }

    @GET
    @Path("mails")
    public String sent() {
        return String.join("\n", sent);
    }

    @POST
    @Path("{customer}/{plan}")
    public void upgrade(@PathParam("customer") String customer, @PathParam("plan") String plan) {
        customers.upgrade(customer, plan);
    }
}
