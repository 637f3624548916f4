// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.nemesis.check.Checker;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.HistoryFile;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.run.Run;
import io.weir.nemesis.run.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run without faults keeps all promises, and its history can be read again. */
class NemesisTest {
    private static final Duration LENGTH = Duration.ofSeconds(3);

    @Test
    void dividesALongTimeIntoRuns() {
        Duration five = Duration.ofMinutes(5);
        assertThat(Nemesis.parts(Duration.ofMinutes(2), 1)).containsExactly(Duration.ofMinutes(2));
        assertThat(Nemesis.parts(Duration.ofMinutes(6), 1)).containsExactly(five, Duration.ofMinutes(1));
        assertThat(Nemesis.parts(Duration.ofHours(1), 1)).hasSize(12).containsOnly(five);
        assertThat(Nemesis.parts(Duration.ofHours(1), 12)).hasSize(3).containsOnly(Duration.ofMinutes(20));
    }

    @Test
    @Tag("ci")
    @Tag("fault")
    void keepsAllPromisesWithoutFaults(@TempDir Path folder) throws IOException {
        History history = new Run(1, 2, 1, Topology.SINGLE, LENGTH, List.of(), false, LENGTH, 1).execute(folder);
        for (int instance = 0; instance < 2; instance++) {
            int of = instance;
            assertThat(history.operations())
                    .as("operations of instance %d, of which 1 is called over HTTP", instance)
                    .filteredOn(operation -> operation.instance() == of)
                    .extracting(Operation::outcome)
                    .contains(Outcome.ALLOWED, Outcome.REJECTED, Outcome.BLOCKED);
        }
        assertThat(Checker.check(history)).isEmpty();
        Path file = folder.resolve("history.txt");
        HistoryFile.write(history, file);
        assertThat(HistoryFile.read(file, Run.policies())).isEqualTo(history);
    }
}
