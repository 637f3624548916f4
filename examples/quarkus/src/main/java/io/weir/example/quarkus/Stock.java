// SPDX-License-Identifier: Apache-2.0
package io.weir.example.quarkus;

import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

/** A limited bean. */
@ApplicationScoped
public class Stock {
    /** Counts the stock. */
    @RateLimit("stock")
    public Uni<Integer> count() {
        return Uni.createFrom().item(7);
    }
}
