// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.LogCapture;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.logging.Level;

/** The end of a backend's self-test, for tests that count commands: the self-test sends some of its own. */
final class SelfTestEnd {
    private SelfTestEnd() {}

    /** Starts a backend and waits for the end of its self-test. */
    static <T> T awaited(Supplier<T> start) {
        try (LogCapture log = new LogCapture(Level.FINE)) {
            T started = start.get();
            Await.until(
                    "the end of the self-test",
                    Duration.ofSeconds(30),
                    () -> log.lines().stream().anyMatch(line -> line.contains("The self-test has ended")));
            return started;
        }
    }
}
