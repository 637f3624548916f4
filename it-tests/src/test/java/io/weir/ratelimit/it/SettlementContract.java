// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that reserve 20 of 100 permits and settle another cost. */
interface SettlementContract extends PolicyClient {
    @ParameterizedTest
    @ValueSource(strings = {"now", "stage", "thread", "stream"})
    default void requestPaysTheActualCost(String how) {
        HttpResponse<String> less = get("api/settled/" + how + "/5");
        assertThat(less.statusCode()).as(less.body()).isEqualTo(200);
        assertThat(LimitResponse.policy(less)).isEqualTo("settled");
        verifySettled("settled", 95);
        HttpResponse<String> more = get("api/settled/" + how + "/70");
        assertThat(more.statusCode()).as(more.body()).isEqualTo(200);
        verifySettled("settled", 25);
        assertThat(get("api/settled/" + how + "/130").statusCode()).isEqualTo(200);
        verifySettled("settled", 0);
        LimitResponse.verifyRejected(get("api/settled/" + how + "/1"), "settled");
    }

    @ParameterizedTest
    @CsvSource({"200, 5, 95", "200, 60, 40", "500, 5, 100", "500, 60, 100", "unmapped, 60, 100", "404, 0, 100"})
    default void uncountedOutcomeRefundsTheActualCost(String how, long cost, long remaining) {
        get("api/settled/success/" + how + "/" + cost);
        verifySettled("settled-success", remaining);
    }

    /** A refund can follow shortly after the response. */
    private void verifySettled(String policy, long expected) {
        PolicyClient.eventually(() -> remaining(policy) == expected);
        assertThat(remaining(policy)).isEqualTo(expected);
    }
}
