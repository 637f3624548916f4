// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import java.time.Duration;

@RequestScoped
@Path("support")
public class SupportResource {
    @Inject
    PenaltyReport report;

    @Inject
    BlockedCallers callers;

    /** Returns the penalties, or the rest of the block of a key in minutes. */
    @GET
    public String get(@QueryParam("key") String key) {
        return key == null
                ? String.join("\n", report.lines())
                : String.valueOf(callers.blockedFor(key).toMinutes());
    }

    @POST
    public String block(@QueryParam("key") String key) {
        callers.block(key, Duration.ofHours(2));
        return key;
    }

    @DELETE
    public String unblock(@QueryParam("key") String key) {
        callers.unblock(key);
        return key;
    }
}
