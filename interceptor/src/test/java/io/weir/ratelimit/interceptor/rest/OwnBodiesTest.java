// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static io.weir.ratelimit.interceptor.rest.Quotas.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.interceptor.engine.LogCapture;
import io.weir.ratelimit.spi.RejectionResponder;
import io.weir.ratelimit.spi.RejectionResponder.Body;
import io.weir.ratelimit.spi.RejectionResponder.Rejection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OwnBodiesTest {
    private static final Rejection REJECTION = new Rejection(
            "Search.find",
            new Decision.Rejected(List.of(refused("api", 1, Duration.ofMinutes(1), 1, 1))),
            OptionalLong.of(1),
            List.of("text/html"));

    private final LogCapture log = new LogCapture();

    @AfterEach
    void closeLog() {
        log.close();
    }

    private Optional<Body> twice(RejectionResponder responder) {
        OwnBodies bodies = new OwnBodies(Optional.of(responder));
        bodies.body(REJECTION);
        return bodies.body(REJECTION);
    }

    @Test
    void theApplicationsBodyIsTaken() {
        Body own = new Body("application/vnd.shop+json; charset=utf-8", "{}");
        assertThat(twice(rejection -> Optional.of(own))).contains(own);
        assertThat(twice(rejection -> Optional.empty())).isEmpty();
        assertThat(new OwnBodies(Optional.empty()).body(REJECTION)).isEmpty();
        assertThat(log.lines()).isEmpty();
    }

    @Test
    @SuppressWarnings("NullAway") // what must not be and happens
    void oneThatAnswersNullIsSaidOnce() {
        assertThat(twice(rejection -> null)).isEmpty();
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-318 the responder ");
    }

    @Test
    void oneThatThrowsIsSaidOnce() {
        assertThat(twice(rejection -> {
                    throw new AssertionError("on purpose");
                }))
                .isEmpty();
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING WEIR-318 ");
    }

    @Test
    void aMediaTypeThatIsNoneIsAFailure() {
        assertThat(twice(rejection -> Optional.of(new Body("text/html; =", ""))))
                .isEmpty();
        assertThat(twice(rejection -> Optional.of(new Body("text/html\r\nX: y", ""))))
                .isEmpty();
        assertThat(log.lines()).hasSize(2).allMatch(line -> line.contains("WEIR-318"));
    }
}
