// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.HistoryFile;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.run.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table of several runs, whose histories are in a folder. */
class ResultsTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    @TempDir
    Path folder;

    private Path page;

    @BeforeEach
    void writePage() throws IOException {
        page = Files.writeString(
                folder.resolve("page.md"), "before\n<!-- nemesis -->\nformer table\n<!-- /nemesis -->\nafter\n");
    }

    @Test
    void hasTheSumsOfAllHistories() throws IOException {
        write(7, fault("slow", 10, 12), slow(100, 160), slow(130, 190));
        write(8, fault("slow", 0, 1), fault("slow", 3, 4), fault("reset", 200, 201));

        assertThat(check()).isZero();
        assertThat(page)
                .content()
                .startsWith("before\n<!-- nemesis -->\n```\nmvn ")
                .contains("-Dweir.nemesis.arguments=\"--each --time 5m\"\n```\n")
                // Operations of the same time as two faults count once: 2 s and 5 s after, and from 0 s to 9 s.
                .contains("| `slow` | 7, 8 | 10.0 | 15.0 % | 3 | 18 | 0 | 0 |")
                .contains("| `reset` | 8 | 5.0 | 0.0 % | 1 | 7 | 0 | 0 |")
                .endsWith("<!-- /nemesis -->\nafter\n")
                .doesNotContain("former table");
    }

    /** Hours with all faults can be several runs of the program, each with some faults. */
    @Test
    void keepsTheRowsOfOtherFaults() throws IOException {
        write(7, fault("slow", 10, 12));
        write(8, fault("reset", 200, 201));
        check("--seed", "7");
        write(8, fault("reset", 100, 130));
        Files.delete(history(7));
        check("--seed", "8");

        assertThat(page)
                .content()
                .containsPattern(
                        "--seed 7 --time 5m\"\n```\n\n[|] nemesis [^\n]*\n[|]-[^\n]*\n[|] `slow` [^\n]*\n\n```")
                .containsPattern(
                        "--seed 8 --time 5m\"\n```\n\n[|] nemesis [^\n]*\n[|]-[^\n]*\n[|] `reset` [^\n]*\n<!--");

        write(8, fault("slow", 10, 12), fault("reset", 200, 201));
        check("--seed", "9");

        assertThat(page).content().doesNotContain("--seed 7", "--seed 8").contains("--seed 9", "| `slow` | 8 |");
    }

    @Test
    void isNotThatOfAnEmptyFolder() throws IOException {
        assertThat(check()).isEqualTo(1);
    }

    private int check(String... more) throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of("--check", folder.toString(), "--table", page.toString(), "--each", "--time", "5m"));
        arguments.addAll(List.of(more));
        return Nemesis.run(System.out::println, arguments.toArray(String[]::new));
    }

    private Path history(long seed) {
        return folder.resolve("seed-" + seed).resolve("history.txt");
    }

    private static Fault fault(String name, long from, long to) {
        return new Fault(name, Set.of(Effect.OUTAGE), Fault.ALL, from * SECOND, to * SECOND);
    }

    private static Fault slow(long from, long to) {
        return new Fault(Fault.SLOW_MACHINE, Set.of(Effect.STARVATION), 0, from * SECOND, to * SECOND);
    }

    /** Writes a history with one operation a second, for five minutes. */
    private void write(long seed, Fault... faults) throws IOException {
        List<Operation> operations = new ArrayList<>();
        for (int i = 0; i <= 300; i++) {
            long at = i * SECOND;
            operations.add(new Operation(i + 1, 0, Kind.PEEK, "fixed", "ann", 0, 0, at, at, Outcome.FAILED, 0, 0, 0));
        }
        Path path = history(seed);
        Files.createDirectories(path.getParent());
        HistoryFile.write(
                new History(seed, 2, Duration.ofMillis(250), Run.policies(), operations, List.of(faults), 0), path);
    }
}
