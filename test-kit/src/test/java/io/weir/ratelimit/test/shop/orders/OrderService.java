// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.shop.orders;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;

@ApplicationScoped
public class OrderService {
    @RateLimit("orders")
    public String order() {
        return "ordered";
    }
}
