// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.client.RateLimitClientFilter;
import io.weir.ratelimit.test.StubUpstream.Received;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.client.Client;
import jakarta.ws.rs.client.ClientBuilder;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The virtual clock moves the limits and the pauses of outgoing calls. */
@WeirTest(
        properties = {
            "ratelimit.policies.partner.limit=2/1m",
            "ratelimit.policies.partner.algorithm=fixed-window",
            "ratelimit.clients.partner.policy=partner",
            "ratelimit.policies.patient.limit=100/1m",
            "ratelimit.policies.patient.max-wait=1m",
            "ratelimit.clients.patient.policy=patient"
        },
        beans = StubUpstreamTest.Application.class)
class StubUpstreamTest {
    @ApplicationScoped
    static class Application {}

    private static final Client CLIENT =
            ClientBuilder.newBuilder().register(RateLimitClientFilter.class).build();

    private final StubUpstream upstream = StubUpstream.start();
    RateLimitClock clock;

    @AfterAll
    static void close() {
        CLIENT.close();
    }

    @AfterEach
    void stop() {
        upstream.close();
    }

    private int get(String client) {
        return CLIENT.target(upstream.uri())
                .path("offers")
                .request()
                .property(RateLimitClientFilter.CLIENT, client)
                .get()
                .getStatus();
    }

    private void assertNotSent() {
        assertThat(RateLimitClientFilter.rejection(catchThrowable(() -> get("partner"))))
                .isPresent()
                .get()
                .isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void aWindowEndsWhenTheClockMoves() {
        assertThat(get("partner")).isEqualTo(200);
        assertThat(get("partner")).isEqualTo(200);
        assertNotSent();
        clock.advance(Duration.ofMinutes(1));
        assertThat(get("partner")).isEqualTo(200);
        assertThat(upstream.requests()).hasSize(3).containsOnly(new Received("GET", URI.create("/offers")));
    }

    @Test
    void aPauseEndsWhenTheClockMoves() {
        upstream.answer(429, "Retry-After", "30").answer(204);
        assertThat(get("partner")).isEqualTo(429);
        assertNotSent();
        clock.advance(Duration.ofSeconds(29));
        assertNotSent();
        clock.advance(Duration.ofSeconds(1));
        assertThat(get("partner")).isEqualTo(204);
        assertThat(upstream.requests()).hasSize(2);
    }

    @Test
    void aCallThatWaitsForAPauseMovesTheClock() {
        upstream.answer(503, "Retry-After", "30").answer(200);
        assertThat(get("patient")).isEqualTo(503);
        assertThat(get("patient")).isEqualTo(200);
        assertThat(clock.now()).isEqualTo("2026-01-01T00:00:30Z");
    }

    @Test
    void aFieldNeedsAValue() {
        assertThatIllegalArgumentException().isThrownBy(() -> upstream.answer(200, "Retry-After"));
    }
}
