// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.MinuteCounts;
import io.weir.ratelimit.console.report.ReportBuilder;
import io.weir.ratelimit.console.report.ReportCodec;
import io.weir.ratelimit.console.report.RunningInstance;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The instance whose reports are measured. */
class BusyInstanceTest {
    @Test
    void reportsItsPoliciesDecisionsAndKeys() {
        BusyInstance instance = new BusyInstance(30, 40);
        instance.decideFor(Duration.ofSeconds(5));
        InstanceReport.Origin origin = RunningInstance.startedAt(Instant.EPOCH).origin("measurement");
        InstanceReport report = new ReportBuilder(
                        instance.operations(), instance.rates(), () -> origin, new MinuteCounts(instance::nanos))
                .build();
        assertThat(report.values()).hasSize(30);
        assertThat(report.rates()).hasSize(30).allMatch(rates -> rates.decided() == 5);
        assertThat(report.keys())
                .hasSize(30)
                .allMatch(keys -> !keys.top().rejected().isEmpty());
        assertThat(report.keys().get(0).top().active()).hasSize(ReportCodec.MAX_KEYS);
    }
}
