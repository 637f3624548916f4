// SPDX-License-Identifier: Apache-2.0
package io.weir.example.helidon;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;

/** A resource that is limited by its annotation, by the path, and by the bean that it calls. */
@RequestScoped
@Path("hello")
public class HelloResource {
    private final Stock stock;

    /** Creates a proxy of the container. */
    protected HelloResource() {
        this(new Stock());
    }

    /**
     * Creates a resource.
     *
     * @param stock a limited bean
     */
    @Inject
    public HelloResource(Stock stock) {
        this.stock = stock;
    }

    /**
     * Says hello. Its limit is that of the policy {@code hello}.
     *
     * @return a greeting
     */
    @GET
    @Produces("text/plain")
    @RateLimit("hello")
    public String hello() {
        return "Hello\n";
    }

    /**
     * Has no annotation: the policy {@code files} limits its path.
     *
     * @return a text
     */
    @GET
    @Path("file")
    @Produces("text/plain")
    public String file() {
        return "file\n";
    }

    /**
     * Calls a limited bean.
     *
     * @return the count
     */
    @GET
    @Path("stock")
    @Produces("text/plain")
    public String stock() {
        return stock.count();
    }
}
