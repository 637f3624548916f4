// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.cdi.Container.config;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExempt;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResourceOperationsTest {
    private static List<String> operations(Class<?>... classes) {
        try (Container container = Container.start(config("ratelimit.policies.api.limit=1/1h"), classes)) {
            return shown(container.bean(RateLimitExtension.class));
        }
    }

    private static List<String> shown(RateLimitExtension extension) {
        return extension.operations().stream()
                .map(each -> each.method() + " " + each.path() + " "
                        + each.binding().policies().stream()
                                .map(policyCost -> policyCost.policy().name())
                                .toList())
                .toList();
    }

    @Test
    void aResourceHasTheOperationsOfItsMethods() {
        assertThat(operations(Orders.class))
                .containsExactlyInAnyOrder(
                        "GET /orders [api]", "POST /orders []", "GET /orders/{id}/lines/{line} [api]");
    }

    @Test
    void annotationsOfAnInterfaceApply() {
        assertThat(operations(Described.class)).containsExactly("GET /described [api]");
    }

    @Test
    void aSubResourceHasThePathOfItsLocatorAndCanLocateItself() {
        assertThat(operations(Carts.class))
                .containsExactlyInAnyOrder(
                        "DELETE /carts/{id} [Cart.delete]", "GET /carts/{id}/total []", "GET /carts [api]");
    }

    @Test
    void includesRegisteredClassesThatAreNotBeans() {
        try (Container container = Container.start(config("ratelimit.policies.api.limit=1/1h"), Described.class)) {
            RateLimitExtension extension = container.bean(RateLimitExtension.class);
            extension.addResource(Orders.class);
            extension.addResource(Described.class);
            assertThat(shown(extension)).hasSize(4).contains("GET /orders [api]");
        }
    }

    @Test
    void findsTheApplicationWithAnyContextClassLoader() {
        try (Container container = Container.start(config("ratelimit.policies.api.limit=1/1h"), Orders.class)) {
            Thread thread = Thread.currentThread();
            ClassLoader usual = thread.getContextClassLoader();
            thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
            try {
                assertThat(CurrentApplication.extension().application()).isSameAs(container.application());
                assertThat(RateLimitExtension.callInApplication(thread::getContextClassLoader))
                        .isSameAs(RateLimitExtension.class.getClassLoader());
                assertThat(thread.getContextClassLoader()).isSameAs(ClassLoader.getPlatformClassLoader());
            } finally {
                thread.setContextClassLoader(usual);
            }
        }
    }

    @Test
    void normalizesATemplate() {
        assertThat(ResourceOperations.template("/")).isEmpty();
        assertThat(ResourceOperations.template("orders/")).isEqualTo("/orders");
        assertThat(ResourceOperations.template("/orders//{ id }")).isEqualTo("/orders/{id}");
        assertThat(ResourceOperations.template("{year: [0-9]{4}}-{month : \\d+}/x"))
                .isEqualTo("/{year}-{month}/x");
    }

    @Path("orders")
    @RateLimit("api")
    @ApplicationScoped
    public static class Orders {
        @GET
        public void all() {}

        @POST
        @RateLimitExempt
        public void add() {}

        @GET
        @Path("{id: [0-9]{4}}/lines/{line}/")
        public void line() {}

        public void none() {}
    }

    @Path("described")
    public interface Description {
        @GET
        @RateLimit("api")
        void get();
    }

    @ApplicationScoped
    public static class Described implements Description {
        @Override
        public void get() {}
    }

    @Path("carts")
    @ApplicationScoped
    public static class Carts {
        @GET
        @RateLimit("api")
        public void all() {}

        @Path("{id}")
        public Cart one() {
            return new Cart();
        }
    }

    public static class Cart {
        @DELETE
        @RateLimit(limit = "1/1h")
        public void delete() {}

        @GET
        @Path("total")
        public void total() {}

        @Path("same")
        public Cart same() {
            return this;
        }
    }
}
