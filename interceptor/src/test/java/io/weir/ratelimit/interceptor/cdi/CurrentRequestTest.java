// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.interceptor.engine.RequestRecord;
import io.weir.ratelimit.spi.CallContext;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CurrentRequestTest {
    private final List<Boolean> outcomes = new ArrayList<>();
    private final RequestRecord record = new RequestRecord(CallContext.NONE);
    private final CurrentRequest request = new CurrentRequest();

    @Test
    void aRequestThatEndsWithoutAnAnswerHasFailed() {
        record.settleLater(outcomes::add);
        request.start(record);
        request.ended();
        assertThat(outcomes).containsExactly(false);
    }

    @Test
    void aRequestThatWasAnsweredIsSettledOnce() {
        record.settleLater(outcomes::add);
        request.start(record);
        record.settle(true);
        request.ended();
        assertThat(outcomes).containsExactly(true);
    }

    @Test
    void aRequestThatNoFilterHasSeenEndsQuietly() {
        request.ended();
        assertThat(outcomes).isEmpty();
    }
}
