// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;

@RequestScoped
@Path("shop")
public class ShopResource {
    @Inject
    Offers offers;

    @Inject
    RateLimiter limiter;

    @GET
    @Path("interface/{account}")
    public String byInterface(@PathParam("account") String account) {
        return offers.offer(account, "books");
    }

    @GET
    @Path("remaining/{policy}/{key}")
    public String remaining(@PathParam("policy") String policy, @PathParam("key") String key) {
        return Long.toString(limiter.peek(policy, key).get(0).remaining());
    }
}
