// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;

@RequestScoped
@Path("")
public class CompletionsResource {
    @Inject
    Completions completions;

    @Inject
    RateLimiter limiter;

    @POST
    @Path("completions/{key}/{max}")
    public String complete(@PathParam("key") String apiKey, @PathParam("max") int maxTokens) {
        return completions.complete(apiKey, "word ".repeat(60), maxTokens);
    }

    @GET
    @Path("remaining/{policy}")
    public String remaining(@PathParam("policy") String policy) {
        return Long.toString(limiter.peek(policy).get(0).remaining());
    }
}
