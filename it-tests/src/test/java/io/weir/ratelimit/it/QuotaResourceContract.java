// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The quota resource of an application whose users the server knows. Each test reads from an address of its own. */
interface QuotaResourceContract extends PolicyClient {
    private HttpResponse<String> read(String address, String... headers) {
        String[] all = fields("X-Forwarded-For", address);
        String[] sent = Arrays.copyOf(all, all.length + headers.length);
        System.arraycopy(headers, 0, sent, all.length, headers.length);
        return Http.get(uri("rate-limits"), sent);
    }

    @Test
    default void quotaResourceShowsTheQuotasOfTheClientAndSpendsNothing() {
        String address = Http.freshAddress();
        assertThat(get("api/caller/shadow-and-enforced").statusCode()).isEqualTo(200);
        for (int i = 0; i < 3; i++) {
            HttpResponse<String> response = read(address);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            assertThat(LimitResponse.field(response, "Content-Type")).startsWith("application/json");
            LimitResponse.verifyNoQuota(response);
            assertThat(response.body())
                    .contains("{\"name\":\"enforced\",\"permits\":2,\"window\":3600,\"unit\":\"requests\","
                            + "\"capacity\":2,\"remaining\":1,")
                    .containsPattern("\"name\":\"by-month\",\"permits\":5,[^}]*\"remaining\":5,\"reset\":0,"
                            + "\"period_end\":\"[0-9]{4}-[0-9]{2}-01T00:00:00\\+0[12]:00\"")
                    .contains("\"name\":\"by-ip\"")
                    .as("policies without a disclosed or known quota")
                    .doesNotContain(
                            "undisclosed", "\"shadow\"", "\"off\"", "by-path-parameter", "by-method", "by-user");
        }
        assertThat(remaining("enforced")).isEqualTo(1);
    }

    @Test
    default void quotaResourceAuthenticatesTheCaller() {
        String address = Http.freshAddress();
        HttpResponse<String> ann = read(address, "Authorization", Http.basic("ann", "ann-password"));
        assertThat(ann.statusCode()).as(ann.body()).isEqualTo(200);
        assertThat(ann.body()).contains("\"name\":\"by-user\",\"permits\":5,");

        HttpResponse<String> other = read(address, "Authorization", "ApiKey abc");
        assertThat(other.body()).doesNotContain("by-user");
        assertThat(other.statusCode()).isIn(200, 401, 403);
    }

    @Test
    default void quotaResourceRejectsAnAddressAfterSixRejectedLogins() {
        String address = Http.freshAddress();
        long start = System.nanoTime();
        int rejectedLogins = 0;
        HttpResponse<String> response = read(address, "Authorization", Http.basic("ann", "wrong"));
        while (response.statusCode() != 429) {
            assertThat(response.statusCode()).isIn(401, 403);
            assertThat(response.body()).doesNotContain("by-ip");
            rejectedLogins++;
            // A permit of the reads returns each second.
            assertThat(rejectedLogins)
                    .isLessThanOrEqualTo(
                            6 + (int) (TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start) + 1) / 10);
            response = read(address, "Authorization", Http.basic("ann", "wrong"));
        }
        assertThat(rejectedLogins).isGreaterThanOrEqualTo(6);
        assertThat(LimitResponse.number(response, "Retry-After")).isBetween(1L, 10L);
        assertThat(read(address, "Authorization", Http.basic("ann", "ann-password"))
                        .statusCode())
                .isEqualTo(429);
        assertThat(read(Http.freshAddress(), "Authorization", Http.basic("ann", "ann-password"))
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    default void quotaResourceRejectsAFloodOfOneAddress() {
        String address = Http.freshAddress();
        long start = System.nanoTime();
        int reads = 0;
        HttpResponse<String> response = read(address);
        while (response.statusCode() == 200) {
            reads++;
            assertThat(reads)
                    .isLessThanOrEqualTo(60 + (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start) + 1);
            response = read(address);
        }
        assertThat(response.statusCode()).isEqualTo(429);
        assertThat(reads).isGreaterThanOrEqualTo(60);
        assertThat(LimitResponse.number(response, "Retry-After")).isEqualTo(1);
        assertThat(response.body()).contains("\"detail\":\"There were too many requests.\"");
        assertThat(read(Http.freshAddress()).statusCode()).isEqualTo(200);
    }
}
