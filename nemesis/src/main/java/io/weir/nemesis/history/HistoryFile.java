// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.history;

import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The operations and faults of a history in a text file, one a line, so that a checker can read them again. */
public final class HistoryFile {
    private HistoryFile() {}

    /** Writes a history. */
    public static void write(History history, Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("run " + history.seed() + " " + history.instances() + " "
                + history.deadline().toMillis() + " " + history.start());
        for (Fault fault : history.faults()) {
            lines.add("fault " + fault.name() + " "
                    + fault.effects().stream().map(Effect::name).sorted().collect(Collectors.joining(","))
                    + " " + fault.instance() + " " + fault.start() + " " + fault.end());
        }
        for (Operation operation : history.operations()) {
            lines.add("operation " + operation.number() + " " + operation.instance() + " " + operation.kind() + " "
                    + operation.policy() + " " + operation.key() + " " + operation.amount() + " " + operation.call()
                    + " " + operation.start() + " " + operation.end() + " " + operation.outcome() + " "
                    + operation.value() + " " + operation.took() + " " + operation.stalled());
        }
        Files.write(file, lines);
    }

    /**
     * Reads a history.
     *
     * @param policies the policies of the run by name
     */
    public static History read(Path file, Map<String, Policy> policies) throws IOException {
        List<Operation> operations = new ArrayList<>();
        List<Fault> faults = new ArrayList<>();
        String[] run = {};
        for (String line : Files.readAllLines(file)) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "run" -> run = words;
                case "fault" -> faults.add(fault(words));
                case "operation" -> operations.add(operation(words));
                default -> throw new IllegalArgumentException(line);
            }
        }
        return new History(
                Long.parseLong(run[1]),
                Integer.parseInt(run[2]),
                Duration.ofMillis(Long.parseLong(run[3])),
                policies,
                operations,
                faults,
                Long.parseLong(run[4]));
    }

    private static Fault fault(String... words) {
        return new Fault(
                words[1],
                Arrays.stream(words[2].split(","))
                        .filter(effect -> !effect.isEmpty())
                        .map(Effect::valueOf)
                        .collect(Collectors.toSet()),
                Integer.parseInt(words[3]),
                Long.parseLong(words[4]),
                Long.parseLong(words[5]));
    }

    private static Operation operation(String... words) {
        return new Operation(
                Long.parseLong(words[1]),
                Integer.parseInt(words[2]),
                Kind.valueOf(words[3]),
                words[4],
                words[5],
                Long.parseLong(words[6]),
                Long.parseLong(words[7]),
                Long.parseLong(words[8]),
                Long.parseLong(words[9]),
                Outcome.valueOf(words[10]),
                Long.parseLong(words[11]),
                Long.parseLong(words[12]),
                Long.parseLong(words[13]));
    }
}
