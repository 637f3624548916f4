// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits of sub-resource locators, which Quarkus calls before the filters of a matched request. */
class LocatorTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resources.class, Located.class))
            .overrideConfigKey("quarkus.http.auth.basic", "true")
            .overrideConfigKey("quarkus.security.users.embedded.enabled", "true")
            .overrideConfigKey("quarkus.security.users.embedded.plain-text", "true")
            .overrideConfigKey("quarkus.security.users.embedded.users.ann", "secret")
            .overrideConfigKey("quarkus.security.users.embedded.users.ben", "secret")
            .overrideConfigKey("ratelimit.trusted-proxies", "203.0.113.0/24")
            .setLogRecordPredicate(line -> line.getMessage().contains("WEIR-039"))
            .assertLogRecords(lines -> assertThat(lines).isEmpty())
            .overrideConfigKey("ratelimit.policies.user.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.user.key", "principal + method")
            .overrideConfigKey("ratelimit.policies.early.limit", "100/1h")
            .overrideConfigKey("ratelimit.policies.early.key", "ip")
            .overrideConfigKey("ratelimit.policies.early.paths", "/located/after-early")
            .overrideConfigKey("ratelimit.policies.early.phase", "early")
            .overrideConfigKey("ratelimit.policies.address.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.address.key", "ip")
            .overrideConfigKey("ratelimit.policies.both.limit", "5/1h")
            .overrideConfigKey("ratelimit.policies.both.key", "header:X-Client")
            .overrideConfigKey("ratelimit.policies.slot.concurrency", "1")
            .overrideConfigKey("ratelimit.policies.slot.key", "header:X-Client");

    @TestHTTPResource
    URI base;

    @Inject
    RateLimiter limiter;

    private HttpResponse<String> as(String user, String path) {
        String credentials = Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
        return new Client(base).get("located/" + path, "Authorization", "Basic " + credentials);
    }

    @ParameterizedTest
    @ValueSource(strings = {"user", "after-early"})
    void eachUserHasALimit(String path) {
        assertThat(as("ann", path).statusCode()).isEqualTo(200);
        assertThat(as("ann", path).statusCode()).isEqualTo(429);
        assertThat(as("ben", path).statusCode()).isEqualTo(200);
    }

    @Test
    void theAddressOfTheConnectionIsAKey() {
        HttpResponse<String> first = new Client(base).get("located/address");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.headers().firstValue("RateLimit").orElse("")).startsWith("\"address\";r=0");
        assertThat(limiter.peek("address", Identity.address("127.0.0.1")).get(0).remaining())
                .isZero();
        HttpResponse<String> second = new Client(base).get("located/address");
        assertThat(second.statusCode()).isEqualTo(429);
        assertThat(second.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
        assertThat(second.headers().firstValue("RateLimit").orElse("")).startsWith("\"address\";r=0;t=");
        assertThat(second.headers().firstValue("Content-Type")).contains("application/problem+json");
    }

    @Test
    void aPolicyOfTheLocatorAndOfItsMethodIsChargedOnce() {
        HttpResponse<String> response = new Client(base).get("located/both/limited");
        assertThat(response.body()).isEqualTo("limited");
        assertThat(response.headers().firstValue("RateLimit").orElse("")).startsWith("\"both\";r=4");
    }

    @Test
    void theReturnOfALocatorReleasesItsSlot() {
        Client client = new Client(base);
        for (int call = 0; call < 3; call++) {
            assertThat(client.get("located/slot").statusCode())
                    .as("call %d", call)
                    .isEqualTo(200);
        }
    }

    @Path("located")
    public static class Resources {
        @Path("user")
        @RateLimit("user")
        public Located user() {
            return new Located();
        }

        @Path("after-early")
        @RateLimit("user")
        public Located afterEarly() {
            return new Located();
        }

        @Path("address")
        @RateLimit("address")
        public Located address() {
            return new Located();
        }

        @Path("both")
        @RateLimit("both")
        public Located both() {
            return new Located();
        }

        @Path("slot")
        @RateLimit("slot")
        public Located slot() {
            return new Located();
        }
    }

    public static class Located {
        @GET
        public String get() {
            return "located";
        }

        @GET
        @Path("limited")
        @RateLimit("both")
        public String limited() {
            return "limited";
        }
    }
}
