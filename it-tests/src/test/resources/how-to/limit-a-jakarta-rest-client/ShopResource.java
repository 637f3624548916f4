// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.client.RateLimitClientFilter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.client.ClientBuilder;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.config.inject.ConfigProperty;

@RequestScoped
@Path("shop")
public class ShopResource {
    @Inject
    PartnerClient client;

    @Inject
    AcquiredCalls later;

    @Inject
    RateLimiter limiter;

    @Inject
    @ConfigProperty(name = "upstream.url")
    String upstream;

    @GET
    @Path("client/{account}")
    public String byClient(@PathParam("account") String account) {
        return client.status(upstream, account);
    }

    @GET
    @Path("later/{account}")
    public CompletionStage<String> later(@PathParam("account") String account) {
        return later.get(
                ClientBuilder.newBuilder()
                        .register(new RateLimitClientFilter("partner"))
                        .build()
                        .target(upstream)
                        .path("status"),
                account);
    }

    @GET
    @Path("remaining/{policy}/{key}")
    public String remaining(@PathParam("policy") String policy, @PathParam("key") String key) {
        return Long.toString(limiter.peek(policy, key).get(0).remaining());
    }
}
