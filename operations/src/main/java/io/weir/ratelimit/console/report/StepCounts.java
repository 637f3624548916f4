// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weir.ratelimit.core.operations.FleetStore;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The counts of one step of the history, as lines {@code <decided> <rejected> <name>}. The name is {@value #ALL} for all policies, and
 * {@code =<policy>} for one.
 */
public final class StepCounts {
    public static final String ALL = "*";
    private static final long MAX_COUNT = 999_999_999_999_999L;
    private static final int LINE_BYTES = 32;
    private static final Pattern LINE = Pattern.compile("(?s)([0-9]{1,15}) ([0-9]{1,15}) (.+)");

    private final Map<String, Counts> byName = new LinkedHashMap<>();
    private int size;

    /** The number of decisions and that of the rejections among them. */
    public record Counts(long decided, long rejected) {
        public static final Counts NONE = new Counts(0, 0);

        Counts plus(Counts other) {
            return new Counts(
                    Math.min(MAX_COUNT, decided + other.decided), Math.min(MAX_COUNT, rejected + other.rejected));
        }
    }

    /** Returns the name of a policy in lines. */
    public static String nameOf(String policy) {
        return "=" + policy;
    }

    /** Reads lines. Text that has another form is left out. */
    public static StepCounts parse(byte[] lines) {
        StepCounts counts = new StepCounts();
        counts.add(lines);
        return counts;
    }

    /** Adds the counts of lines, as every store does. */
    public void add(byte[] lines) {
        // A search for the next line within the text would start again at each character.
        for (String text : new String(lines, UTF_8).split("\n", -1)) {
            Matcher line = LINE.matcher(text);
            if (line.matches()) {
                add(line.group(3), new Counts(Long.parseLong(line.group(1)), Long.parseLong(line.group(2))));
            }
        }
    }

    /** Adds counts, unless the name is new and the step has no room for it. */
    public void add(String name, Counts counts) {
        int bytes = name.getBytes(UTF_8).length + LINE_BYTES;
        if (byName.containsKey(name)) {
            byName.merge(name, counts, Counts::plus);
        } else if (size + bytes <= FleetStore.MAX_STEP_BYTES) {
            byName.put(name, counts);
            size += bytes;
        }
    }

    public Counts of(String name) {
        return byName.getOrDefault(name, Counts.NONE);
    }

    public byte[] lines() {
        StringBuilder lines = new StringBuilder();
        byName.forEach((name, counts) -> lines.append(counts.decided())
                .append(' ')
                .append(counts.rejected())
                .append(' ')
                .append(name)
                .append('\n'));
        return lines.toString().getBytes(UTF_8);
    }
}
