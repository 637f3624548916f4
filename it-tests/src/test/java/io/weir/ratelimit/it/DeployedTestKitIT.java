// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.test.RateLimitClock;
import io.weir.ratelimit.test.RateLimits;
import io.weir.ratelimit.test.RemoteRateLimits;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A deployment with the test kit: a test in the container injects the clock and the limits, and a test in another JVM sends commands. The
 * tests in the container use JUnit only, which Arquillian adds to the deployment.
 */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@Tag("server")
@ExtendWith(ArquillianExtension.class)
class DeployedTestKitIT {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    @ArquillianResource
    private URL base;

    @Inject
    private RateLimiter limiter;

    @Inject
    private RateLimitClock clock;

    @Inject
    private RateLimits limits;

    @Deployment
    static WebArchive application() {
        return TestWar.of("kit").addAsLibrary(TestWar.testKit());
    }

    @Test
    void aTestInTheContainerMovesTheClock() {
        limits.resetAll();
        assertEquals(START, clock.now());
        assertTrue(limiter.acquire("code", "ann", 3).allowed());
        assertFalse(limiter.acquire("code", "ann").allowed());
        clock.advance(Duration.ofHours(1));
        assertTrue(limiter.acquire("code", "ann").allowed());
        assertEquals(2, limits.remaining("code", "ann"));
    }

    @Test
    void aTestInTheContainerResetsLimits() {
        limits.resetAll();
        limits.exhaust("code", "bob");
        assertFalse(limiter.acquire("code", "bob").allowed());
        limits.reset("code", "bob");
        assertTrue(limiter.acquire("code", "bob").allowed());
    }

    private HttpResponse<String> hello() {
        return Http.get(api().resolve("hello"));
    }

    private URI api() {
        return Http.loopback(base).resolve("api/");
    }

    @Test
    @RunAsClient
    void aClientMovesTheClock() {
        RemoteRateLimits remote = RemoteRateLimits.at(api());
        remote.resetAll();
        for (int call = 0; call < 5; call++) {
            assertEquals(200, hello().statusCode());
        }
        HttpResponse<String> rejected = hello();
        assertEquals(429, rejected.statusCode());
        assertEquals("3600", rejected.headers().firstValue("Retry-After").orElseThrow());
        assertEquals(START.plusSeconds(3_600), remote.advance(Duration.ofHours(1)));
        assertEquals(200, hello().statusCode());
    }

    @Test
    @RunAsClient
    void aClientResetsLimitsAndFailsTheBackend() {
        RemoteRateLimits remote = RemoteRateLimits.at(api());
        remote.resetAll();
        for (int call = 0; call < 5; call++) {
            assertEquals(200, hello().statusCode());
        }
        remote.reset();
        assertEquals(200, hello().statusCode());
        remote.failBackend();
        assertEquals(503, hello().statusCode());
        remote.resetAll();
        assertEquals(200, hello().statusCode());
        assertEquals(START, remote.now());
    }
}
