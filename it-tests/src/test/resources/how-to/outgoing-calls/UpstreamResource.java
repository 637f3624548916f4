// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The partner and the provider of the page. */
@ApplicationScoped
@Path("upstream")
public class UpstreamResource {
    private final Map<String, Integer> calls = new ConcurrentHashMap<>();

    @GET
    @Path("offers/{product}")
    public Response offer(@HeaderParam("X-Account") String account, @PathParam("product") String product) {
        calls.merge(account, 1, Integer::sum);
        return account.equals("busy")
                ? Response.status(429).header("Retry-After", 100).build()
                : Response.ok("offer for " + product).build();
    }

    @GET
    @Path("status")
    public String status() {
        return "offer for books";
    }

    @POST
    @Path("completions")
    @Produces(MediaType.APPLICATION_JSON)
    public String complete(String question) {
        return "{\"text\":\"an answer\",\"totalTokens\":42}";
    }

    @GET
    @Path("calls/{account}")
    public String calls(@PathParam("account") String account) {
        return Integer.toString(calls.getOrDefault(account, 0));
    }
}
