// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Locale;

/** An expensive resource: a call spends 10 permits of the policy {@code compute}, which {@link ExportResource} shares. */
@RequestScoped
@Path("search")
public class SearchResource {
    private static final List<String> WORDS = List.of("dam", "flume", "lock", "sluice", "spillway", "weir");

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    @RateLimit(value = "compute", cost = 10)
    public Matches search(@QueryParam("q") @DefaultValue("") String query) {
        String text = query.toLowerCase(Locale.ROOT);
        return new Matches(
                query, WORDS.stream().filter(word -> word.contains(text)).toList());
    }

    /**
     * The result of a search.
     *
     * @param query the search text
     * @param matches the words that contain the text
     */
    public record Matches(String query, List<String> matches) {}
}
