// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.RateLimit;
import jakarta.annotation.security.RolesAllowed;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Users, the address behind a proxy, and the health of the backend. */
class IdentityTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resources.class))
            .overrideConfigKey("quarkus.http.auth.basic", "true")
            .overrideConfigKey("quarkus.http.auth.proactive", "false")
            .overrideConfigKey("quarkus.http.proxy.proxy-address-forwarding", "true")
            .overrideConfigKey("quarkus.http.proxy.allow-x-forwarded", "true")
            .overrideConfigKey("quarkus.http.proxy.enable-forwarded-prefix", "true")
            .overrideConfigKey("quarkus.security.users.embedded.enabled", "true")
            .overrideConfigKey("quarkus.security.users.embedded.plain-text", "true")
            .overrideConfigKey("quarkus.security.users.embedded.users.ann", "secret")
            .overrideConfigKey("quarkus.security.users.embedded.users.ben", "secret")
            .overrideConfigKey("quarkus.security.users.embedded.roles.ann", "user")
            .overrideConfigKey("quarkus.security.users.embedded.roles.ben", "user")
            .setLogRecordPredicate(line -> line.getMessage().matches("(?s)WEIR-(039|309).*"))
            .assertLogRecords(
                    lines -> assertThat(lines).as("warnings of proxies").isEmpty())
            .overrideConfigKey("ratelimit.bypass.roles", "operator")
            .overrideConfigKey("ratelimit.policies.user.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.user.key", "principal | ip")
            .overrideConfigKey("ratelimit.policies.path.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.path.key", "global")
            .overrideConfigKey("ratelimit.policies.path.paths", "/users/path")
            .overrideConfigKey("ratelimit.policies.address.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.address.key", "ip");

    @TestHTTPResource
    URI base;

    private int as(String user, String password, String path) {
        String credentials =
                Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
        return new Client(base)
                .get(path, "Authorization", "Basic " + credentials)
                .statusCode();
    }

    @Test
    void eachUserHasALimit() {
        for (int call = 0; call < 3; call++) {
            assertThat(as("ann", "wrong", "users/uni")).isEqualTo(401);
            assertThat(new Client(base).get("users/uni").statusCode()).isEqualTo(401);
        }
        assertThat(as("ann", "secret", "users/uni")).isEqualTo(200);
        assertThat(as("ann", "secret", "users/uni")).isEqualTo(429);
        assertThat(as("ben", "secret", "users/value")).isEqualTo(200);
        assertThat(as("ben", "secret", "users/value")).isEqualTo(429);
    }

    @Test
    void theAddressIsThatOfTheClientBehindAProxy() {
        Client client = new Client(base);
        assertThat(client.get("users/address", "X-Forwarded-For", "192.0.2.1").statusCode())
                .isEqualTo(200);
        assertThat(client.get("users/address", "X-Forwarded-For", "192.0.2.1").statusCode())
                .isEqualTo(429);
        assertThat(client.get("users/address", "X-Forwarded-For", "192.0.2.2").statusCode())
                .isEqualTo(200);
    }

    @Test
    void aPrefixThatAProxyForwardsDoesNotChangeThePathOfAPolicy() {
        Client client = new Client(base);
        assertThat(client.get("users/path").statusCode()).isEqualTo(200);
        for (String prefix : new String[] {"/gateway", "/users", "/"}) {
            assertThat(client.get("users/path", "X-Forwarded-Prefix", prefix).statusCode())
                    .as(prefix)
                    .isEqualTo(429);
        }
        assertThat(client.get("users/path").statusCode()).isEqualTo(429);
    }

    /** The role of the user, who is not authenticated yet, is not waited for. */
    @Test
    void aResourceForEveryoneIsLimited() {
        assertThat(new Client(base).get("users/open").statusCode()).isEqualTo(200);
        assertThat(new Client(base).get("users/open").statusCode()).isEqualTo(429);
    }

    @Test
    void readinessShowsTheBackend() {
        assertThat(new Client(base).get("q/health/ready").body())
                .contains("\"ratelimit\"")
                .contains("\"backend\": \"local\"");
    }

    @Test
    void aDisabledConsoleDoesNotExist() {
        assertThat(new Client(base).get("q/ratelimit/").statusCode()).isEqualTo(404);
        assertThat(as("ann", "secret", "q/ratelimit/")).isEqualTo(404);
    }

    @Path("users")
    public static class Resources {
        @GET
        @Path("uni")
        @RolesAllowed("user")
        @RateLimit("user")
        public Uni<String> uni() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("path")
        public String path() {
            return "done";
        }

        @GET
        @Path("open")
        @RateLimit("user")
        public Uni<String> open() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("value")
        @RolesAllowed("user")
        @RateLimit("user")
        public String value() {
            return "done";
        }

        @GET
        @Path("address")
        @RateLimit("address")
        public String address() {
            return "done";
        }
    }
}
