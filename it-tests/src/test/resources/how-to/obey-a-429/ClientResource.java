// SPDX-License-Identifier: Apache-2.0
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.client.Client;
import jakarta.ws.rs.client.ClientBuilder;
import jakarta.ws.rs.core.Response;
import java.net.URI;
import java.net.http.HttpRequest;

/** Calls an API by the Java clients of the page, and returns the status. */
@RequestScoped
@Path("client")
public class ClientResource {
    @GET
    @Path("http")
    public String http(@QueryParam("url") URI url, @QueryParam("key") String key) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(url).header("X-Api-Key", key).build();
        return Integer.toString(new PatientHttpClient().send(request).statusCode());
    }

    @GET
    @Path("rest")
    public String rest(@QueryParam("url") URI url, @QueryParam("key") String key) throws Exception {
        Client client = ClientBuilder.newClient();
        try (Response response = new PatientRestClient()
                .invoke(client.target(url).request().header("X-Api-Key", key).buildGet())) {
            return Integer.toString(response.getStatus());
        } finally {
            client.close();
        }
    }
}
