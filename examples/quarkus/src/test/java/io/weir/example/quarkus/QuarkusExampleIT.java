// SPDX-License-Identifier: Apache-2.0
package io.weir.example.quarkus;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusIntegrationTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The example as its users start it: {@code java -jar quarkus-run.jar}. */
@QuarkusIntegrationTest
@TestProfile(QuarkusExampleIT.LongWindows.class)
class QuarkusExampleIT {
    /** The limits of the example, but no window ends during a test. */
    public static class LongWindows implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of("ratelimit.policies.hello.limit", "5/1h", "ratelimit.policies.stock.limit", "3/1h");
        }
    }

    @TestHTTPResource
    URI base;

    private HttpResponse<String> get(String path) {
        try {
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(base.resolve(path)).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IllegalStateException("no response to " + path, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private int[] statuses(int calls, String path) {
        return IntStream.range(0, calls).map(call -> get(path).statusCode()).toArray();
    }

    @Test
    void theSixthCallIsRejected() {
        assertThat(statuses(5, "/hello")).containsOnly(200);
        HttpResponse<String> rejected = get("/hello");
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(rejected.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
        assertThat(rejected.body()).contains("\"violated-policies\":[\"hello\"]");
    }

    @Test
    void aReactiveBeanIsLimited() {
        assertThat(statuses(3, "/hello/stock")).containsOnly(200);
        assertThat(get("/hello/stock").statusCode()).isEqualTo(429);
    }

    @Test
    void aCallWaitsForItsTurn() {
        assertThat(statuses(8, "/hello/reactive")).containsOnly(200);
    }
}
