// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URL;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The login of the example under attack, behind a proxy that forwards the client addresses. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class LoginIT {
    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static WebArchive example() {
        return TestWar.exampleWith("ratelimit.trusted-proxies=127.0.0.0/8");
    }

    @Test
    void limitsManyAddressesAgainstOneUser() {
        String user = name();
        for (int i = 0; i < 20; i++) {
            verifyFailed(attempt(Http.freshAddress(), user));
        }
        String fresh = Http.freshAddress();
        verifyRejectedLogin(attempt(fresh, user));
        verifyRejectedLogin(attempt(Http.freshAddress(), user));
        for (int i = 0; i < 10; i++) {
            verifyFailed(attempt(fresh, name()));
        }
        verifyRejectedLogin(attempt(fresh, name()));
    }

    @Test
    void limitsManyUsersFromOneAddress() {
        String address = Http.freshAddress();
        for (int i = 0; i < 10; i++) {
            verifyFailed(attempt(address, name()));
        }
        String fresh = name();
        verifyRejectedLogin(attempt(address, fresh));
        for (int i = 0; i < 20; i++) {
            verifyFailed(attempt(Http.freshAddress(), fresh));
        }
        verifyRejectedLogin(attempt(Http.freshAddress(), fresh));
    }

    @Test
    void limitsOneUserFromOneAddressFirst() {
        String address = Http.freshAddress();
        String user = name();
        for (int i = 0; i < 5; i++) {
            verifyFailed(attempt(address, user));
        }
        for (int i = 0; i < 10; i++) {
            verifyRejectedLogin(attempt(address, user));
        }
        for (int i = 0; i < 5; i++) {
            verifyFailed(attempt(address, name()));
        }
        verifyRejectedLogin(attempt(address, name()));
        for (int i = 0; i < 15; i++) {
            verifyFailed(attempt(Http.freshAddress(), user));
        }
        verifyRejectedLogin(attempt(Http.freshAddress(), user));
    }

    @Test
    void prependedAddressIsIgnored() {
        String address = Http.freshAddress();
        IntStream.range(0, 10).forEach(i -> verifyFailed(attempt(Http.freshAddress() + ", " + address, name())));
        verifyRejectedLogin(attempt(Http.freshAddress() + ", " + address, name()));
    }

    @Test
    void successfulLoginDisclosesNoLimits() {
        HttpResponse<String> welcome = login(Http.freshAddress(), name(), "secret");
        assertThat(welcome.statusCode()).isEqualTo(200);
        assertThat(welcome.body()).isEqualTo("Welcome\n");
        LimitResponse.verifyNoQuota(welcome);
    }

    private static void verifyFailed(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(401);
        LimitResponse.verifyNoQuota(response);
        assertThat(response.headers().firstValue("Retry-After")).isEmpty();
        assertThat(response.body()).isEqualTo("Wrong username or password\n");
    }

    private static void verifyRejectedLogin(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(429);
        LimitResponse.verifyNoQuota(response);
        assertThat(LimitResponse.number(response, "Retry-After")).isBetween(1L, 120L);
        assertThat(response.body())
                .contains("\"detail\":\"There were too many requests.\"")
                .doesNotContain("login", "policies", "quota of", "instance");
    }

    private HttpResponse<String> attempt(String address, String user) {
        return login(address, user, "wrong");
    }

    private HttpResponse<String> login(String address, String user, String password) {
        URI uri = Http.loopback(base).resolve("api/login");
        return Http.post(
                uri,
                "application/x-www-form-urlencoded",
                "username=" + user + "&password=" + password,
                "X-Forwarded-For",
                address);
    }

    private static String name() {
        return UUID.randomUUID().toString();
    }
}
