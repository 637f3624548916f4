// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Locale;

/** A dear call: ten permits of the budget {@code compute}, which {@link ExportResource} spends from as well. */
@Path("search")
public class SearchResource {
    private static final List<String> WORDS = List.of("dam", "flume", "lock", "sluice", "spillway", "weir");

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    @RateLimit(value = "compute", cost = 10)
    public Matches search(@QueryParam("q") @DefaultValue("") String query) {
        String wanted = query.toLowerCase(Locale.ROOT);
        return new Matches(
                query, WORDS.stream().filter(word -> word.contains(wanted)).toList());
    }

    /** What was asked, and the words that contain it. */
    public record Matches(String query, List<String> matches) {}
}
