// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;

@RequestScoped
@Path("model")
public class ModelResource {
    @Inject
    Completions completions;

    @Inject
    RateLimiter limiter;

    @GET
    public String model() {
        return completions.complete("a question of five words");
    }

    @GET
    @Path("remaining/{policy}")
    public String remaining(@PathParam("policy") String policy) {
        return Long.toString(limiter.peek(policy, "model").get(0).remaining());
    }
}
