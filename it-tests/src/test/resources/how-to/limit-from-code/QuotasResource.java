// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;

@RequestScoped
@Path("quotas/{user}")
public class QuotasResource {
    @Inject
    Quotas quotas;

    @GET
    public String remaining(@PathParam("user") String user) {
        return String.valueOf(quotas.of(user).get(0).remaining());
    }

    @POST
    public void reset(@PathParam("user") String user) {
        quotas.reset(user);
    }
}
