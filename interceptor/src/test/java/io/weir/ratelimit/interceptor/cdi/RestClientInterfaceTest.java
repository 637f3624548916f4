// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.client.OutgoingRateLimit;
import io.weir.ratelimit.client.RateLimitClientFilter;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.eclipse.microprofile.rest.client.RestClientBuilder;
import org.eclipse.microprofile.rest.client.annotation.RegisterProvider;
import org.glassfish.jersey.ext.cdi1x.internal.CdiComponentProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Interfaces of MicroProfile REST Client, which declare or inherit their methods and annotations. */
class RestClientInterfaceTest {
    private static final String[] LINES = {
        "ratelimit.policies.calls.limit=2/1h",
        "ratelimit.clients.partner.policy=calls",
        "ratelimit.clients.partner.key=path"
    };

    private final List<String> received = new CopyOnWriteArrayList<>();
    private HttpServer upstream;

    interface OfferApi {
        @GET
        @Path("offers")
        String offer();
    }

    @OutgoingRateLimit("partner")
    @Path("v1")
    interface Declaring {
        @GET
        @Path("offers")
        String offer();
    }

    @OutgoingRateLimit("partner")
    @Path("v1")
    interface Inheriting extends OfferApi {}

    @OutgoingRateLimit("partner")
    interface AnnotatedApi extends OfferApi {}

    @Path("v1")
    interface First extends AnnotatedApi {}

    @Path("v2")
    interface Second extends AnnotatedApi {}

    @OutgoingRateLimit("partner")
    @RegisterProvider(RateLimitClientFilter.class)
    @Path("v1")
    interface Registering extends OfferApi {}

    @Path("persons")
    interface WithPath {
        @GET
        @Path("offers")
        String offer();
    }

    /** Runtimes do not inherit the path of an interface. */
    @OutgoingRateLimit("partner")
    interface WithoutPath extends WithPath {}

    @OutgoingRateLimit("other")
    @Path("v1")
    interface Overriding extends AnnotatedApi {}

    @Path("v1")
    interface Unlimited extends OfferApi {}

    @BeforeEach
    void startUpstream() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", exchange -> {
            received.add(exchange.getRequestURI().getPath());
            byte[] body = {'O', 'K'};
            exchange.getResponseHeaders().add("Content-Type", "text/plain");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        upstream.start();
    }

    @AfterEach
    void stopUpstream() {
        upstream.stop(0);
    }

    private RestClientBuilder builder() {
        return RestClientBuilder.newBuilder()
                .baseUri(URI.create("http://localhost:" + upstream.getAddress().getPort()));
    }

    /** Calls a client three times. Returns the results of the calls. */
    private <T> List<String> results(Class<T> type, Function<T, String> call) {
        T client = builder().build(type);
        return List.of(result(client, call), result(client, call), result(client, call));
    }

    private static <T> String result(T client, Function<T, String> call) {
        try {
            return call.apply(client);
        } catch (RuntimeException e) {
            return RateLimitClientFilter.rejection(e).isPresent() ? "rejected" : e.toString();
        }
    }

    private static Container start(String... lines) {
        return Container.start(lines, CdiComponentProvider.class);
    }

    private static long remaining(Container container, String path) {
        return container
                .bean(RateLimiter.class)
                .peek("calls", Identity.of(path))
                .get(0)
                .remaining();
    }

    @Test
    @Tag("field")
    void annotationAloneLimitsDeclaredAndInheritedMethods() {
        try (Container container = start(LINES)) {
            assertThat(results(Declaring.class, Declaring::offer)).containsExactly("OK", "OK", "rejected");
            assertThat(remaining(container, "/v1/offers")).isZero();
        }
        try (Container container = start(LINES)) {
            assertThat(results(Inheriting.class, Inheriting::offer)).containsExactly("OK", "OK", "rejected");
            assertThat(remaining(container, "/v1/offers")).isZero();
        }
        assertThat(received).hasSize(4).containsOnly("/v1/offers");
    }

    @Test
    @Tag("field")
    void interfacesWithOneAnnotatedParentHaveTheirOwnPaths() {
        try (Container container = start(LINES)) {
            assertThat(results(First.class, First::offer)).containsExactly("OK", "OK", "rejected");
            assertThat(results(Second.class, Second::offer)).containsExactly("OK", "OK", "rejected");
            assertThat(container).isNotNull();
        }
        assertThat(received).containsExactly("/v1/offers", "/v1/offers", "/v2/offers", "/v2/offers");
    }

    @Test
    @Tag("field")
    void registeredFilterSpendsOnce() {
        try (Container container = start(LINES)) {
            assertThat(results(Registering.class, Registering::offer)).containsExactly("OK", "OK", "rejected");
            assertThat(container).isNotNull();
        }
        try (Container container = start(LINES)) {
            Inheriting client =
                    builder().register(new RateLimitClientFilter("partner")).build(Inheriting.class);
            assertThat(client.offer()).isEqualTo("OK");
            assertThat(remaining(container, "/v1/offers")).isEqualTo(1);
        }
        try (Container container = start(LINES)) {
            Unlimited client = builder()
                    .register(RateLimitClientFilter.class)
                    .property(RateLimitClientFilter.CLIENT, "partner")
                    .build(Unlimited.class);
            assertThat(client.offer()).isEqualTo("OK");
            assertThat(remaining(container, "/v1/offers")).isEqualTo(1);
        }
    }

    @Test
    @Tag("field")
    void nearestAnnotationApplies() {
        try (Container container = start(LINES)) {
            Overriding client = builder().build(Overriding.class);
            assertThat(catchThrowable(client::offer)).hasStackTraceContaining("WEIR-239 There is no client \"other\"");
            assertThat(results(Unlimited.class, Unlimited::offer)).containsExactly("OK", "OK", "OK");
            assertThat(container).isNotNull();
        }
    }

    @Test
    @Tag("field")
    void keyIsThePathOfTheCall() {
        try (Container container = start(LINES)) {
            assertThat(results(WithoutPath.class, WithoutPath::offer)).containsExactly("OK", "OK", "rejected");
            assertThat(received).hasSize(2).containsOnly("/offers");
            assertThat(remaining(container, "/offers")).isZero();
        }
    }
}
