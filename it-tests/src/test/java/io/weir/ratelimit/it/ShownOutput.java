// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The output that a page shows below a command. Waits in seconds may be shorter than shown, because time passes between calls. */
final class ShownOutput {
    private static final Pattern SECONDS = Pattern.compile("(?<=;t=|Retry-After: |\"retry_after\":|again in )\\d+");
    private static final long TOLERANCE = 30;

    private ShownOutput() {}

    /** Compares all lines. */
    static void verifyText(String shown, String actual) {
        verifyLines(shown.lines().toList(), actual.lines().toList());
    }

    /** Compares the status line, the header fields that are shown, and the body if it is shown. */
    static void verifyResponse(String shown, String actual) {
        String[] expected = shown.split("\n\n", 2);
        String[] response = actual.split("\n\n", 2);
        List<String> head = response[0].lines().toList();
        expected[0]
                .lines()
                .forEach(line -> verifyLines(
                        List.of(line),
                        head.stream()
                                .filter(field -> masked(field).equals(masked(line)))
                                .toList()));
        assertThat(head.get(0)).isEqualTo(expected[0].lines().findFirst().orElseThrow());
        if (expected.length > 1) {
            verifyText(expected[1], response[1]);
        }
    }

    private static void verifyLines(List<String> shown, List<String> actual) {
        assertThat(actual.stream().map(ShownOutput::masked))
                .containsExactlyElementsOf(
                        shown.stream().map(ShownOutput::masked).toList());
        List<Long> expected = seconds(String.join("\n", shown));
        List<Long> seconds = seconds(String.join("\n", actual));
        for (int i = 0; i < expected.size(); i++) {
            assertThat(seconds.get(i)).isBetween(expected.get(i) - TOLERANCE, expected.get(i));
        }
    }

    private static String masked(String line) {
        return SECONDS.matcher(line).replaceAll("#");
    }

    private static List<Long> seconds(String text) {
        List<Long> seconds = new ArrayList<>();
        SECONDS.matcher(text).results().forEach(number -> seconds.add(Long.valueOf(number.group())));
        return seconds;
    }
}
