// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.LogCapture;
import java.net.http.HttpRequest;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The log of commands, with a runtime that has had none. */
@WeirTest(beans = RestCommandsTest.Hello.class)
class RestCommandLogTest {
    RestRuntime rest;
    RateLimitClock clock;

    private int send(String command) {
        return rest.send(HttpRequest.newBuilder(rest.uri("/hello"))
                        .header(TestKitFilter.COMMAND, command)
                        .build())
                .statusCode();
    }

    @Test
    void commandsAreLoggedAtMostOnceAMinute() {
        try (LogCapture log = new LogCapture()) {
            assertThat(send("advance PT1S")).isEqualTo(204);
            assertThat(send("recover-backend")).isEqualTo(204);
            assertThat(clock.now())
                    .isEqualTo(Instant.parse(WeirTest.DEFAULT_NOW).plusSeconds(1));
            assertThat(log.lines())
                    .filteredOn(line -> line.contains("WEIR-612"))
                    .singleElement()
                    .asString()
                    .startsWith("WARNING")
                    .contains("Number since the last such message: 1. Last command: advance.");
        }
    }
}
