// SPDX-License-Identifier: Apache-2.0
package io.weir.example;

import io.weir.ratelimit.RateLimiter;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;

/** What the caller has left of the policy {@code hello}. Asking spends nothing. */
@Path("quota")
public class QuotaResource {
    @Inject
    private RateLimiter limiter;

    @GET
    @Produces(MediaType.APPLICATION_JSON)
    public List<Left> quota() {
        return limiter.peek("hello").stream()
                .map(quota -> new Left(
                        quota.name(),
                        quota.permits(),
                        quota.window().toSeconds(),
                        quota.remaining(),
                        quota.resetAfter().toMillis()))
                .toList();
    }

    /** One limit and what is left of it. */
    public record Left(String limit, long permits, long windowSeconds, long remaining, long resetAfterMillis) {}
}
