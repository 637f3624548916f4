// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test.shop;

import static io.weir.ratelimit.test.WeirAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.test.RateLimits;
import io.weir.ratelimit.test.RestRuntime;
import io.weir.ratelimit.test.WeirTest;
import io.weir.ratelimit.test.shop.orders.OrderService;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The beans of packages, a profile of the configuration, and events of other threads. */
@WeirTest(
        packages = ShopApplication.class,
        beans = RestPackageTest.Listed.class,
        properties = {
            "mp.config.profile=quiet",
            "ratelimit.policies.orders.limit=100/1h",
            "%quiet.ratelimit.policies.orders.limit=2/1h",
            "ratelimit.policies.orders.key=global",
            "ratelimit.policies.orders.penalty.after=2/1h",
            "ratelimit.policies.orders.penalty.for=1m"
        })
class RestPackageTest {
    /** A bean without a scope is one because the test lists it. */
    public static class Listed {
        @Inject
        Stock stock;
    }

    @Dependent
    static class NestedBean {}

    @Inject
    OrderService orders;

    @Inject
    Listed listed;

    @Inject
    Instance<Object> beans;

    RateLimits limits;

    @Test
    void findsAndLimitsTheBeansOfAPackageAndItsSubpackages() {
        assertThat(orders.order()).isEqualTo("ordered");
        assertThat(listed.stock.left()).isEqualTo(7);
        assertThat(beans.select(Stock.OfAnotherShop.class).isUnsatisfied()).isTrue();
        assertThat(beans.select(NestedBean.class).isResolvable())
                .as("the folder of the class is that of the tests")
                .isTrue();
    }

    @Test
    void theProfileOfTheConfigurationIsInForce() {
        orders.order();
        orders.order();
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> orders.order());
        assertThat(limits.remaining("quiet", "a"))
                .as("of the file of the profile")
                .isEqualTo(5);
    }

    @Test
    void findsTheApplicationAndItsResources(RestRuntime rest) {
        HttpRequest order = HttpRequest.newBuilder(rest.uri("/api/orders"))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        assertThat(rest.send(order).body()).isEqualTo("ordered");
        rest.send(order);
        assertThat(rest.send(order)).isRejectedBy("orders");
    }

    @Test
    void waitsForTheEventOfAnotherThread(RateLimiter limiter) {
        AtomicBoolean looked = new AtomicBoolean();
        CompletableFuture<Void> calls = new CompletableFuture<>();
        calls.thenRunAsync(() -> List.of(1, 2, 3, 4).forEach(call -> limiter.acquire("orders", "a")));
        List<PenaltyImposed> found = limits.awaitEvents(PenaltyImposed.class, events -> {
            if (looked.compareAndSet(false, true)) {
                assertThat(events).isEmpty();
                calls.complete(null);
            }
            return events.size() == 1;
        });
        assertThat(found).singleElement().extracting(PenaltyImposed::policy).isEqualTo("orders");
        assertThat(limits.awaitEvents(RateLimitRejected.class, events -> !events.isEmpty()))
                .isNotEmpty();
    }
}
