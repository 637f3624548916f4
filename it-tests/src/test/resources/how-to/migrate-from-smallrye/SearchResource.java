// SPDX-License-Identifier: Apache-2.0
package org.example;

import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

@RequestScoped
@Path("search")
public class SearchResource {
    @Inject
    Search search;

    @GET
    public String find() {
        return search.find("weir").toString();
    }
}
