// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.util.concurrent.CompletionStage;

@RequestScoped
@Path("partner")
public class PartnerResource {
    @Inject
    PartnerQueue queue;

    @Inject
    Partner partner;

    @Inject
    RetriedPartner retried;

    @GET
    @Path("later")
    public CompletionStage<String> later() {
        return queue.callLater("acme", () -> "offer for books");
    }

    @GET
    @Path("limited")
    public String limited() {
        return partner.offer("books");
    }

    @GET
    @Path("retried")
    public String retried() {
        return retried.offer("books");
    }
}
