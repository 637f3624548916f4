// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@RequestScoped
@Path("hello")
public class HelloResource {
    @GET
    public String hello() {
        return "Hello\n";
    }
}
