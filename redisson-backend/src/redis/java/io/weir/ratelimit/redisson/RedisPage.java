// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** The samples of {@code docs/how-to/redis.md} and of the page about services, for tests that use them. */
final class RedisPage {
    private static final Path PAGES = Path.of("..", "docs", "how-to");
    private static final String PAGE = "redis.md";
    static final String OF_SERVICES = "redis-services.md";

    private RedisPage() {}

    /**
     * Returns the sample that contains a text.
     *
     * @param text the text, which is in one sample only
     * @param replaced the placeholders of the sample, each of which it contains, with the values of the test
     * @return the sample with these values
     */
    static String sample(String text, Map<String, String> replaced) {
        return sample(PAGE, text, replaced);
    }

    /** Returns the sample of a page. */
    static String sample(String page, String text, Map<String, String> replaced) {
        String sample = Pattern.compile("(?ms)^```\\w*\n(.*?)^```$")
                .matcher(text(page))
                .results()
                .map(match -> match.group(1))
                .filter(candidate -> candidate.contains(text))
                .reduce((one, another) -> {
                    throw new AssertionError("several samples with " + text);
                })
                .orElseThrow(() -> new AssertionError("no sample with " + text));
        for (Map.Entry<String, String> each : replaced.entrySet()) {
            if (!sample.contains(each.getKey())) {
                throw new AssertionError("no " + each.getKey() + " in the sample with " + text);
            }
            sample = sample.replace(each.getKey(), each.getValue());
        }
        return sample.strip();
    }

    static String text() {
        return text(PAGE);
    }

    private static String text(String page) {
        try {
            return Files.readString(PAGES.resolve(page));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
