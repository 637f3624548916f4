// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** With longer pauses, all callers use one key of one limit after the other. */
class WorkloadTest {
    private static final Duration RUN = Duration.ofMinutes(12);

    /** Each limit has a phase that is longer than the longest span that the checker compares with it. */
    @Test
    void exhaustsEachLimitForMoreThanTheLongestSpanOfItsCheck() {
        Map<Policy, Integer> seconds = new LinkedHashMap<>();
        for (int second = 0; second < RUN.toSeconds(); second++) {
            seconds.merge(Workload.limitAt(Duration.ofSeconds(second), 701), 1, Integer::sum);
        }
        assertThat(seconds)
                .hasSize(7)
                .allSatisfy((limit, found) -> assertThat((long) found)
                        .as("seconds of %s", limit.name())
                        .isGreaterThan((limit.form() == Form.CALENDAR ? 2 : 20)
                                * limit.window().toSeconds()));
    }

    @Test
    void beginsWithTheLimitThatTheSeedSelects() {
        assertThat(Workload.limitAt(Duration.ZERO, 0).name()).isEqualTo("fixed");
        assertThat(Workload.limitAt(Duration.ZERO, 1).name()).isEqualTo("sliding");
        assertThat(Workload.limitAt(Duration.ofSeconds(104), 0).name()).isEqualTo("fixed");
        assertThat(Workload.limitAt(Duration.ofSeconds(105), 0).name()).isEqualTo("sliding");
        assertThat(Workload.limitAt(Duration.ZERO, -1).name()).isEqualTo("shares");
    }
}
