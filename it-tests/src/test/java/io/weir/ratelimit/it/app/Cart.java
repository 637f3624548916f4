// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.SessionScoped;
import java.io.Serial;
import java.io.Serializable;

/** A session-scoped bean, which is passivated with its interceptors. */
@SessionScoped
public class Cart implements Serializable {
    @Serial
    private static final long serialVersionUID = 1;

    @RateLimit("cart")
    public String add() {
        return "added";
    }
}
