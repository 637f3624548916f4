// SPDX-License-Identifier: Apache-2.0
package io.weir.example.quarkus;

import static io.weir.ratelimit.test.WeirAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.test.RateLimitClock;
import io.weir.ratelimit.test.RateLimits;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The limits of the example with a clock that only the test moves. */
@QuarkusTest
class HelloResourceTest {
    @Inject
    RateLimitClock clock;

    @Inject
    RateLimits limits;

    @TestHTTPResource("hello")
    URI hello;

    private HttpResponse<String> call() throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(hello).build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void theSixthCallIsRejected() throws Exception {
        for (int call = 0; call < 5; call++) {
            assertThat(call()).isAllowed().hasQuota("hello", 4 - call);
        }
        assertThat(call()).isRejectedBy("hello");
        assertThat(limits.events(RateLimitRejected.class)).hasSize(1);
        clock.advance(Duration.ofSeconds(20));
        assertThat(call()).isAllowed().hasQuota("hello", 4);
    }

    @Test
    void eachTestBeginsWithUntouchedLimits() throws Exception {
        for (int call = 0; call < 5; call++) {
            assertThat(call()).isAllowed();
        }
        assertThat(call()).isRejectedBy("hello");
    }

    @Test
    void aChangedLimitAppliesAtOnce() throws Exception {
        limits.change("hello", "limit", "1/1m");
        assertThat(call()).isAllowed();
        assertThat(call()).isRejectedBy("hello");
    }

    @Test
    void callsAreAllowedWhileTheBackendFails() throws Exception {
        limits.failBackend();
        for (int call = 0; call < 6; call++) {
            assertThat(call()).isAllowed();
        }
    }
}
