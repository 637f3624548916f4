// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static io.weir.ratelimit.test.WeirAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Assertions about the problem of a rejection. Surefire runs this test with Jersey and RESTEasy. */
@WeirTest(
        properties = {
            "ratelimit.policies.hello.limit=1/1m",
            "ratelimit.policies.hello.key=global",
            "ratelimit.policies.hello.on-failure=closed",
            "ratelimit.policies.slots.concurrency=2",
            "ratelimit.policies.slots.key=global"
        },
        beans = {RestProblemTest.Hello.class, RestProblemTest.Slots.class})
class RestProblemTest {
    RestRuntime rest;
    RateLimits limits;

    @Path("hello")
    @RequestScoped
    public static class Hello {
        @GET
        @RateLimit("hello")
        public String hello() {
            return "hello";
        }
    }

    @Path("slots")
    @RequestScoped
    public static class Slots {
        @GET
        @RateLimit("slots")
        public String slots() {
            return "slots";
        }
    }

    @Test
    void aRejectionIsAProblem() {
        rest.get("/hello");
        HttpResponse<String> rejected = rest.get("/hello");
        assertThat(rejected)
                .hasProblem("quota-exceeded")
                .hasProblem("https://iana.org/assignments/http-problem-types#quota-exceeded")
                .hasDetail("hello");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> assertThat(rejected).hasProblem("exceeded"))
                .withMessageContaining("#quota-exceeded");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> assertThat(rejected).hasDetail("other"))
                .withMessageContaining("hello");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> assertThat(rejected).hasConcurrencyLimit("hello", 1))
                .withMessageContaining("concurrent-requests");
    }

    @Test
    void aBlockAndAnOutageAreOtherProblems() {
        limits.block("hello", Identity.GLOBAL, Duration.ofMinutes(1));
        assertThat(rest.get("/hello")).hasProblem("abnormal-usage-detected");
        limits.failBackend();
        assertThat(rest.get("/hello")).isUnavailable().hasProblem("temporary-reduced-capacity");
    }

    @Test
    void aConcurrencyLimitHasItsUnit() {
        limits.exhaust("slots", Identity.GLOBAL);
        HttpResponse<String> rejected = rest.get("/slots");
        assertThat(rejected).isRejectedBy("slots").hasConcurrencyLimit("slots", 2);
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> assertThat(rejected).hasConcurrencyLimit("slots", 3));
    }
}
