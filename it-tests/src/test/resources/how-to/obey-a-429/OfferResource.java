// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The API of the page. A filter before the limits reports each call, and the quota of a key is spent at its first call. */
@ApplicationScoped
@Path("")
public class OfferResource {
    private final Map<String, Integer> calls = new ConcurrentHashMap<>();

    @Inject
    RateLimiter limiter;

    @GET
    @Path("offers")
    @RateLimit("offers")
    public String offers() {
        return "offers";
    }

    @GET
    @Path("reports")
    @RateLimit("reports")
    public String reports() {
        return "reports";
    }

    @GET
    @Path("calls/{key}")
    public int calls(@PathParam("key") String key) {
        return calls.getOrDefault(key, 0);
    }

    public void arrived(String key, String path) {
        if (calls.merge(key, 1, Integer::sum) == 1) {
            limiter.acquire(path, Identity.header("X-Api-Key", key)).orThrow();
        }
    }
}
