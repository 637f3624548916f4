// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.shop;

import io.weir.ratelimit.test.shop.orders.OrderService;
import jakarta.inject.Inject;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;

/** A resource without a scope. */
@Path("orders")
public class OrderResource {
    @Inject
    OrderService orders;

    @POST
    public String order() {
        return orders.order();
    }
}
