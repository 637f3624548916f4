// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@RequestScoped
@Path("")
public class CostsResource {
    @GET
    @Path("search")
    public String search() {
        return "none\n";
    }

    @GET
    @Path("export")
    public String export() {
        return "none\n";
    }

    @GET
    @Path("health")
    public String health() {
        return "OK\n";
    }
}
