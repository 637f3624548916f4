// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/**
 * A resource whose cost is known only after the work, such as a language model. A call reserves the most words of its answer under the
 * policy {@code words}, and settles the words that the answer has.
 */
@RequestScoped
@Path("complete")
public class CompleteResource {
    private static final String API_KEY = "X-Api-Key";

    @Inject
    private RateLimiter limiter;

    @POST
    @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
    @Produces(MediaType.APPLICATION_JSON)
    public Usage complete(
            @HeaderParam(API_KEY) String apiKey, @FormParam("words") long words, @FormParam("max") long max) {
        if (words < 0 || max < 1) {
            throw new BadRequestException("words must be at least 0, and max at least 1");
        }
        Decision decision = limiter.acquire("words", caller(apiKey), max).orThrow();
        // Here the model writes its answer.
        limiter.settle(decision.receipt(), words);
        return new Usage(words);
    }

    private static Identity caller(String apiKey) {
        return apiKey == null || apiKey.isBlank() ? Identity.ANONYMOUS : Identity.header(API_KEY, apiKey);
    }

    /**
     * The cost of a call.
     *
     * @param used the words of the answer
     */
    public record Usage(long used) {}
}
