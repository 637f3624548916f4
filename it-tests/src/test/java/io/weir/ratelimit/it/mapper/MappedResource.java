// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.mapper;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitUnavailableException;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@Path("mapped")
@RequestScoped
public class MappedResource {
    @Inject
    MappedWork work;

    @GET
    @Path("filter")
    @RateLimit("once")
    public String filter() {
        return "filter";
    }

    @GET
    @Path("bean")
    public String bean() {
        return work.once();
    }

    @GET
    @Path("secret")
    @RateLimit("secret")
    public String secret() {
        return "secret";
    }

    @GET
    @Path("unavailable")
    public String unavailable() {
        throw new RateLimitUnavailableException("timeout");
    }
}
