// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static io.weir.ratelimit.interceptor.rest.Quotas.rejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.spi.RejectionResponder;
import io.weir.ratelimit.spi.RejectionResponder.Body;
import io.weir.ratelimit.spi.RejectionResponder.Rejection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CustomBodiesTest {
    private static final Rejection REJECTION = new Rejection(
            "Search.find",
            new Decision.Rejected(Results.of(rejected("api", 1, Duration.ofMinutes(1), 1, 1))),
            OptionalLong.of(1),
            List.of("text/html"));

    private final LogCapture log = new LogCapture();

    @AfterEach
    void closeLog() {
        log.close();
    }

    private Optional<Body> twice(RejectionResponder responder) {
        RejectionResponses responses = new RejectionResponses(name -> Optional.empty(), Optional.of(responder));
        responses.own(REJECTION);
        return responses.own(REJECTION);
    }

    @Test
    void returnsTheBodyOfTheApplication() {
        Body own = new Body("application/vnd.shop+json; charset=utf-8", "{}");
        assertThat(twice(rejection -> Optional.of(own))).contains(own);
        assertThat(twice(rejection -> Optional.empty())).isEmpty();
        assertThat(new RejectionResponses(name -> Optional.empty(), Optional.empty()).own(REJECTION))
                .isEmpty();
        assertThat(log.lines()).isEmpty();
    }

    @Test
    @SuppressWarnings("NullAway") // an application can return null
    void logsANullBodyOnce() {
        assertThat(twice(rejection -> null)).isEmpty();
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-318 RejectionResponder ");
    }

    @Test
    void logsAnExceptionOnce() {
        assertThat(twice(rejection -> {
                    throw new AssertionError("on purpose");
                }))
                .isEmpty();
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-318 ");
    }

    @Test
    void rejectsAnInvalidMediaType() {
        assertThat(twice(rejection -> Optional.of(new Body("text/html; =", ""))))
                .isEmpty();
        assertThat(twice(rejection -> Optional.of(new Body("text/html\r\nX: y", ""))))
                .isEmpty();
        assertThat(log.lines()).hasSize(2).allMatch(line -> line.contains("WEIR-318"));
    }
}
