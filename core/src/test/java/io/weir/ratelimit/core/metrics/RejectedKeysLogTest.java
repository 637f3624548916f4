// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static io.weir.ratelimit.fixtures.Events.API;
import static io.weir.ratelimit.fixtures.Events.LOGIN;
import static io.weir.ratelimit.fixtures.Events.USER;
import static io.weir.ratelimit.fixtures.Events.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.fixtures.Events;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class RejectedKeysLogTest {
    private final KeyMasker keys = new KeyMasker(Optional.empty());
    private long nanos = -5;
    private final TopKeysTracker tracker = new TopKeysTracker(keys, () -> nanos);
    private final RejectedKeysLog rejectedKeys = new RejectedKeysLog(tracker);

    private void decide(int times, DecisionEvent event) {
        for (int i = 0; i < times; i++) {
            tracker.decided(event.charges(), event.decision(), nanos);
        }
    }

    private void reject(int times, Charge charge) {
        decide(
                times,
                Events.rejected(
                        List.of(charge), new long[charge.policy().limits().size()]));
    }

    private void passMinute() {
        nanos += TimeUnit.MINUTES.toNanos(1);
        rejectedKeys.run();
    }

    private String entry(String storedKey, String policy, int rejections) {
        return keys.of(storedKey) + " (policy " + policy + ", at least " + rejections + ")";
    }

    private static String line(String... entries) {
        return "INFO WEIR-321 Keys with the most rejections of the last minute: " + String.join(", ", entries) + ".";
    }

    @Test
    void logsTheThreeMostRejectedKeysOfTheMinute() {
        try (LogCapture log = new LogCapture()) {
            reject(4, charge(LOGIN, USER, 1));
            reject(9, charge(API, USER, 1));
            reject(2, charge(API, "p.bob", 1));
            reject(3, charge(API, "p.cid", 1));
            assertThat(log.lines()).isEmpty();
            passMinute();
            reject(1, charge(API, "p.bob", 1));
            passMinute();
            assertThat(log.lines())
                    .containsExactly(
                            line(entry(USER, "api", 9), entry(USER, "login", 4), entry("p.cid", "api", 3)),
                            line(entry("p.bob", "api", 1)));
            assertThat(log.lines()).noneMatch(line -> line.contains("alice"));
        }
    }

    @Test
    void logsNothingWithoutRejections() {
        try (LogCapture log = new LogCapture()) {
            decide(5, Events.allowed(List.of(charge(LOGIN, USER, 1)), 7));
            passMinute();
            reject(1, charge(LOGIN, USER, 1));
            passMinute();
            for (int minute = 0; minute < 30; minute++) {
                decide(1, Events.allowed(List.of(charge(LOGIN, USER, 1)), 7));
                passMinute();
            }
            assertThat(log.lines()).containsExactly(line(entry(USER, "login", 1)));
        }
    }

    @Test
    void eachRejectionCountsInOneMinuteOnly() {
        try (LogCapture log = new LogCapture()) {
            for (int minute = 0; minute < 30; minute++) {
                reject(7, charge(LOGIN, USER, 1));
                passMinute();
            }
            assertThat(log.lines()).hasSize(30).containsOnly(line(entry(USER, "login", 7)));
        }
    }

    @Test
    void aKeyThatReturnsAfterAFloodOfKeysHasAtMostItsRejections() {
        try (LogCapture log = new LogCapture()) {
            reject(2, charge(LOGIN, USER, 1));
            passMinute();
            for (int key = 0; key < 10_000; key++) {
                reject(1, charge(LOGIN, "p.flood" + key, 1));
            }
            reject(500, charge(LOGIN, USER, 1));
            passMinute();
            assertThat(log.lines()).hasSize(2);
            String[] parts = log.lines().get(1).split(keys.of(USER) + " \\(policy login, at least ");
            assertThat(parts).hasSize(2);
            assertThat(Integer.parseInt(parts[1].split("\\)")[0])).isBetween(250, 500);
        }
    }

    @Test
    void theLevelOfItsLoggerSwitchesItOff() {
        Logger logger = Logger.getLogger("io.weir.ratelimit.rejections.keys");
        logger.setLevel(Level.WARNING);
        try (LogCapture log = new LogCapture()) {
            reject(4, charge(LOGIN, USER, 1));
            passMinute();
            logger.setLevel(null);
            reject(1, charge(LOGIN, USER, 1));
            passMinute();
            assertThat(log.lines()).containsExactly(line(entry(USER, "login", 1)));
        } finally {
            logger.setLevel(null);
        }
    }
}
