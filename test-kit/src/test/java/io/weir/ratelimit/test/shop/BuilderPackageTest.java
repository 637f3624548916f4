// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.test.WeirExtension;
import io.weir.ratelimit.test.shop.orders.OrderService;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class BuilderPackageTest {
    @RegisterExtension
    static final WeirExtension WEIR = WeirExtension.builder()
            .packages(OrderService.class)
            .policy("orders", "1/1h")
            .build();

    @Inject
    OrderService orders;

    @Inject
    Instance<Stock> stock;

    @Test
    void findsTheBeansOfThePackageOnly() {
        assertThat(orders.order()).isEqualTo("ordered");
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> orders.order());
        assertThat(stock.isUnsatisfied()).isTrue();
    }
}
