// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.nemesis.history.History;
import io.weir.nemesis.run.Run;
import io.weir.nemesis.run.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several runs at the same time: each is reported, also after one that has failed. */
class ParallelRunsTest {
    private final List<String> lines = new ArrayList<>();
    private final List<History> reported = new ArrayList<>();

    @TempDir
    private Path folder;

    @Test
    void reportsEachRunThatFails() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        ParallelRuns runs = new ParallelRuns(1, file, lines::add);
        assertThat(runs.run(List.of(run(1), run(2)), reported::add)).isFalse();
        assertThat(runs.hasFailed()).isTrue();
        assertThat(lines)
                .filteredOn(line -> line.startsWith("FAILED"))
                .hasSize(2)
                .satisfiesExactly(
                        first -> assertThat(first).contains("seed 1 ", file.toString()),
                        second -> assertThat(second).contains("seed 2 "));
        assertThat(reported).isEmpty();
    }

    @Test
    @Tag("ci")
    @Tag("fault")
    void runsTwoAtTheSameTime() throws IOException {
        assertThat(new ParallelRuns(2, folder, lines::add).run(List.of(run(1), run(2)), reported::add))
                .isTrue();
        assertThat(reported).extracting(History::seed).containsExactlyInAnyOrder(1L, 2L);
        History first = reported.get(0);
        History second = reported.get(1);
        assertThat(first.time().overlaps(second.time().from(), second.time().to()))
                .as("%s and %s overlap", first.time(), second.time())
                .isTrue();
        assertThat(folder.resolve("seed-1-none").resolve(ParallelRuns.HISTORY)).isNotEmptyFile();
        assertThat(folder.resolve("seed-2-none").resolve(ParallelRuns.HISTORY)).isNotEmptyFile();
    }

    private static Run run(long seed) {
        Duration time = Duration.ofSeconds(25);
        return new Run(seed, 2, 0, Topology.SINGLE, time, List.of(), false, Duration.ofSeconds(3), 1);
    }
}
