// SPDX-License-Identifier: Apache-2.0
import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@RequestScoped
@Path("login")
public class ClosedResource {
    @GET
    @RateLimit("login")
    public String login() {
        return "Welcome\n";
    }
}
