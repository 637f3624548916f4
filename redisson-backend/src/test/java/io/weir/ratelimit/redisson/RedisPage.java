// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** What {@code docs/how-to/redis.md} tells operators to write, for tests that do as it says. */
final class RedisPage {
    private static final Path PAGE = Path.of("..", "docs", "how-to", "redis.md");

    private RedisPage() {}

    /**
     * The sample that holds a text.
     *
     * @param holds the text, in one sample only
     * @param replaced what stands for the reader's own values, all of it there, and those of the test
     * @return the sample with these values
     */
    static String sample(String holds, Map<String, String> replaced) {
        String sample = Pattern.compile("(?ms)^```\\w*\n(.*?)^```$")
                .matcher(text())
                .results()
                .map(match -> match.group(1))
                .filter(text -> text.contains(holds))
                .reduce((one, another) -> {
                    throw new AssertionError("several samples with " + holds);
                })
                .orElseThrow(() -> new AssertionError("no sample with " + holds));
        for (Map.Entry<String, String> each : replaced.entrySet()) {
            if (!sample.contains(each.getKey())) {
                throw new AssertionError("no " + each.getKey() + " in the sample with " + holds);
            }
            sample = sample.replace(each.getKey(), each.getValue());
        }
        return sample.strip();
    }

    static String text() {
        try {
            return Files.readString(PAGE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
