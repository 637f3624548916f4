// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@RequestScoped
@Path("each")
@RateLimit("each-method")
public class EachMethodResource {
    @GET
    public String one() {
        return "one\n";
    }

    @GET
    @Path("other")
    public String other() {
        return "other\n";
    }
}
