// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.weir.ratelimit.RateLimit;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Resources on virtual threads, which Java has from version 21 on. */
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadsTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resource.class))
            .overrideConfigKey("ratelimit.policies.once.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.once.key", "ip");

    @TestHTTPResource
    URI base;

    @Test
    void theSecondCallIsRejected() {
        Client client = new Client(base);
        assertThat(client.get("virtual").body()).startsWith("VirtualThread");
        assertThat(client.get("virtual").statusCode()).isEqualTo(429);
    }

    @Path("virtual")
    public static class Resource {
        @GET
        @RunOnVirtualThread
        @RateLimit("once")
        public String virtual() {
            return Thread.currentThread().toString();
        }
    }
}
