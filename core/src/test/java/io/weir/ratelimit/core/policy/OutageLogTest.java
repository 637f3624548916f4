// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class OutageLogTest {
    private final AtomicLong nanos = new AtomicLong(-17);
    private final OutageLog outages = new OutageLog(nanos::get);

    @Test
    void theFirstFailureOfAnOutageIsLogged() {
        assertThat(outages.failed("plans")).isTrue();
        nanos.addAndGet(10 * OutageLog.PAUSE_NANOS);
        assertThat(outages.failed("plans")).isFalse();
        outages.succeeded("plans");
        assertThat(outages.failed("plans")).isTrue();
        assertThat(outages.failed("plans")).isFalse();
        assertThat(outages.failed("other")).isTrue();
    }

    @Test
    void anotherOutageWithinAMinuteIsLoggedOnlyIfItOutlastsTheMinute() {
        outages.failed("plans");
        outages.succeeded("plans");
        nanos.addAndGet(OutageLog.PAUSE_NANOS - 1);
        assertThat(outages.failed("plans")).isFalse();
        nanos.addAndGet(1);
        assertThat(outages.failed("plans")).isTrue();
    }

    @Test
    void aSuccessWithoutAnOutageHasNoEffect() {
        outages.succeeded("plans");
        assertThat(outages.failed("plans")).isTrue();
    }
}
