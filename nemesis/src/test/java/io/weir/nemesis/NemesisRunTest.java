// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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
        assertThat(Nemesis.run(arguments)).as("the status of the program").isZero();
    }
}
