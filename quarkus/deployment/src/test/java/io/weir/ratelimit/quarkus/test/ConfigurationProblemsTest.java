// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.runtime.configuration.ConfigurationException;
import io.quarkus.test.QuarkusUnitTest;
import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Problems of the configuration fail the start with one message, also those of the active profile. */
class ConfigurationProblemsTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClass(Resource.class))
            .overrideConfigKey("ratelimit.policies.api.limit", "many/1m")
            .overrideConfigKey("%test.ratelimit.policies.of-test.limit", "few/1m")
            .overrideConfigKey("%prod.ratelimit.policies.of-prod.limit", "none/1m")
            .overrideConfigKey("ratelimit.policies.api.kee", "ip")
            .assertException(failure -> {
                Throwable cause = failure;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                assertThat(cause)
                        .isInstanceOf(ConfigurationException.class)
                        .hasMessageContaining("WEIR-100")
                        .hasMessageContaining("ratelimit.policies.api.limit = many/1m")
                        .hasMessageContaining("ratelimit.policies.of-test.limit = few/1m")
                        .hasMessageContaining("ratelimit.policies.api.kee")
                        .hasMessageContaining("WEIR-110 Resource.missing");
                assertThat(cause.getMessage()).doesNotContain("of-prod");
            });

    @Test
    void isNotReached() {
        throw new AssertionError("the start has to fail");
    }

    @Path("api")
    public static class Resource {
        @GET
        @RateLimit("api")
        public String api() {
            return "";
        }

        @GET
        @Path("missing")
        @RateLimit("missing")
        public String missing() {
            return "";
        }
    }
}
