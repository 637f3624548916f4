// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands of clients. Surefire runs this test with Jersey, and again with RESTEasy. */
@WeirTest(beans = RestCommandsTest.Hello.class)
class RestCommandsTest {
    @Path("hello")
    @RequestScoped
    public static class Hello {
        @GET
        public String hello() {
            return "hello";
        }
    }

    RestRuntime rest;
    RateLimitClock clock;

    private HttpResponse<String> send(String command) {
        return rest.send(HttpRequest.newBuilder(rest.uri("/hello"))
                .header(TestKitFilter.COMMAND, command)
                .build());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "advance PT99999999H",
                "advance PT99999999999999999999H",
                "advance PT-9223372036854775808S",
                "advance -PT1S",
                "advance",
                "delay-backend PT-1S",
                "<b>unknown</b>"
            })
    void anInvalidCommandIsABadRequest(String command) {
        HttpResponse<String> response = send(command);
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/plain");
        assertThat(clock.now()).isEqualTo(Instant.parse(WeirTest.DEFAULT_NOW));
    }

    @Test
    void aLongDelayIsAccepted() {
        assertThat(send("delay-backend PT99999999H").statusCode()).isEqualTo(204);
    }
}
