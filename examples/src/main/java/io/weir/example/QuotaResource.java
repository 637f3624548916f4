// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimiter;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;

/** A resource that returns the remaining permits of the caller under the policy {@code hello}, without spending permits. */
@RequestScoped
@Path("quota")
public class QuotaResource {
    @Inject
    private RateLimiter limiter;

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public List<LimitState> quota() {
        return limiter.peek("hello").stream()
                .map(quota -> new LimitState(
                        quota.name(),
                        quota.permits(),
                        quota.window().toSeconds(),
                        quota.remaining(),
                        quota.resetAfter().toMillis()))
                .toList();
    }

    /**
     * The state of one limit.
     *
     * @param limit the name of the limit
     * @param permits the permits per window
     * @param windowSeconds the length of the window
     * @param remaining the remaining permits
     * @param resetAfterMillis the time until all permits are available
     */
    public record LimitState(String limit, long permits, long windowSeconds, long remaining, long resetAfterMillis) {}
}
