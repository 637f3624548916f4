// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisProcess;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

/** The calls of the tests of how-to pages. */
interface HowToCalls {
    /** The longest wait for an effect. */
    Duration TIMEOUT = Duration.ofSeconds(30);

    HowToServer server();

    /** Returns the Redis of the application of a page. */
    RedisProcess redis(String page);

    /** Runs a block of commands of the section "Test it". */
    default String test(String page, int block) {
        return server().run(page, HowToPage.of(page).commands("Test it").get(block));
    }

    default HttpResponse<String> get(String application, String path, String... headers) {
        return Http.get(server().uri(application, "api/" + path), headers);
    }

    default HttpResponse<String> post(String application, String path, String... headers) {
        return Http.post(server().uri(application, "api/" + path), "text/plain", "", headers);
    }

    /** Sends a form as {@code curl -d} does. */
    default int login(String application, String form, String... headers) {
        return Http.post(server().uri(application, "api/login"), "application/x-www-form-urlencoded", form, headers)
                .statusCode();
    }

    default List<Integer> statuses(int times, String application, String path, String... headers) {
        return Http.statuses(times, server().uri(application, "api/" + path), headers);
    }

    default boolean isLogged(String text) {
        return server().messages().contains(text);
    }

    /** Checks the policy of a response and returns its remaining permits. */
    static long remaining(HttpResponse<String> response, String policy) {
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.policy(response)).isEqualTo(policy);
        return LimitResponse.remaining(response);
    }
}
