// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import org.eclipse.microprofile.config.ConfigProvider;

/** Resources whose limits change while the application runs. */
@Path("change")
@RequestScoped
public class ChangeResource {
    @GET
    @Path("limited")
    @RateLimit({"changing", "beside"})
    public String limited() {
        return "limited";
    }

    @GET
    @Path("bought")
    @RateLimit("bought")
    public String bought() {
        return "bought";
    }

    @GET
    @Path("{place: source|profile|profiles}")
    public String place(@PathParam("place") String place) {
        return place;
    }

    /** Returns the value of a property for the application; empty if there is none. */
    @GET
    @Path("configured")
    public String configured(@QueryParam("name") String name) {
        return ConfigProvider.getConfig().getOptionalValue(name, String.class).orElse("");
    }

    /** Sets a property of the config source of the application, or a system property. An empty value removes it. */
    @GET
    @Path("set")
    public void set(
            @QueryParam("where") String where,
            @QueryParam("name") String name,
            @QueryParam("value") @DefaultValue("") String value) {
        if (where.equals("process")) {
            if (value.isEmpty()) {
                System.clearProperty(name);
            } else {
                System.setProperty(name, value);
            }
        } else if (value.isEmpty()) {
            ChangingSource.PROPERTIES.remove(name);
        } else {
            ChangingSource.PROPERTIES.put(name, value);
        }
    }
}
