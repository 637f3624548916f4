// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs the program: two minutes with all faults, or an hour with one after the other in the full build, or any arguments. */
@Tag("nemesis")
@Tag("long")
class NemesisRunTest {
    private static final String ARGUMENTS =
            Boolean.getBoolean("weir.test.full") ? "--each --time 4m --http 1" : "--time 2m --http 1";

    @Test
    void allPromisesAreKept() throws IOException {
        String[] arguments =
                System.getProperty("weir.nemesis.arguments", ARGUMENTS).split(" ");
        List<String> lines = new ArrayList<>();
        int status = Nemesis.run(
                line -> {
                    System.out.println(line);
                    lines.add(line);
                },
                arguments);
        // A repetition has another seed: the report of the first run must say what to replay.
        assertThat(status).as(() -> violations(lines)).isZero();
    }

    private static String violations(List<String> lines) {
        return lines.stream()
                .filter(line -> line.matches("seed .* [1-9]\\d* violations|VIOLATION .*|  .*"))
                .limit(8)
                .collect(Collectors.joining("; "));
    }
}
