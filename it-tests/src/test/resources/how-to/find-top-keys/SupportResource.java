// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;

@RequestScoped
@Path("support")
public class SupportResource {
    @Inject
    RejectionReport report;

    @Inject
    Support support;

    @Inject
    RateLimiter limiter;

    /** Resets a key, or writes the report and returns its first key. */
    @POST
    public String post(@QueryParam("key") String key) {
        if (key != null) {
            support.reset(key);
            return key;
        }
        report.write();
        return limiter.topKeys("api").rejected().get(0).key();
    }

    @GET
    public String remaining(@QueryParam("key") String key) {
        return String.valueOf(support.quotas(key, "").get(0).remaining());
    }
}
