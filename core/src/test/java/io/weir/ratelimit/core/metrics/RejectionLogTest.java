// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static io.weir.ratelimit.fixtures.Events.ADDRESS;
import static io.weir.ratelimit.fixtures.Events.API;
import static io.weir.ratelimit.fixtures.Events.LOGIN;
import static io.weir.ratelimit.fixtures.Events.USER;
import static io.weir.ratelimit.fixtures.Events.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.fixtures.Events;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

class RejectionLogTest {
    private final KeyMasker keys = new KeyMasker(Optional.empty());
    private final AtomicLong nanos = new AtomicLong(-5);
    private final List<RateLimitRejected> notified = new ArrayList<>();
    private final RejectionLog rejectionLog = new RejectionLog(keys, nanos::get);
    private final RejectionNotifier notifier = new RejectionNotifier(keys, notified::add);
    private final Charge api = charge(API, ADDRESS, 1);
    private final Charge login = charge(LOGIN, USER, 2);

    private void decide(DecisionEvent event) {
        rejectionLog.onDecision(event);
        notifier.onDecision(event);
    }

    @Test
    void logsEachRejectionAtDebug() {
        try (LogCapture log = new LogCapture(Level.FINE)) {
            decide(Events.rejected(List.of(login), 0));
            decide(Events.rejected(List.of(login), 0));
            String line = "FINE rejected: policy=login endpoint=Search.find key=" + keys.of(USER)
                    + " cost=2 retry-after=1s mode=enforce";
            assertThat(log.lines()).filteredOn(text -> text.startsWith("FINE")).containsExactly(line, line);
        }
    }

    /** A client of the server for Envoy chooses the domain, which is the endpoint. */
    @Test
    void anEndpointForgesNoLine() {
        DecisionEvent event = Events.rejected(List.of(login), 0);
        DecisionEvent forged = new DecisionEvent("a\nFINE b", event.charges(), event.decision(), 0);
        RateLimitRejected rejection = RejectionNotifier.rejection(forged, (Decision.Rejected) forged.decision(), keys);
        try (LogCapture log = new LogCapture(Level.FINE)) {
            decide(forged);
            new PenaltyLog(nanos::get)
                    .accept(new PenaltyImposed(
                            rejection.endpoint(), "login", rejection.key(), Duration.ofMinutes(15), 1));
            assertThat(log.lines()).hasSize(4).noneMatch(line -> line.contains("\n"));
        }
    }

    @Test
    void logsOneLinePerPolicyAndMinuteAtInfo() {
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 100; i++) {
                decide(Events.rejected(List.of(login), 0));
            }
            decide(Events.rejected(List.of(api), 5, 0));
            nanos.addAndGet(TimeUnit.MINUTES.toNanos(1) - 1);
            decide(Events.rejected(List.of(login), 0));
            assertThat(log.lines())
                    .containsExactly(
                            "INFO WEIR-306 Policy login rejected calls. Number since the last such message: 1. Last rejection: Search.find, key "
                                    + keys.of(USER) + ", cost 2, retry after 1s.",
                            "INFO WEIR-306 Policy api rejected calls. Number since the last such message: 1. Last rejection: Search.find, key "
                                    + keys.of(ADDRESS) + ", cost 1, retry after 2s.");
            nanos.incrementAndGet();
            decide(Events.rejected(List.of(login), 0));
            assertThat(log.lines()).hasSize(3).last().asString().contains("Number since the last such message: 101.");
        }
    }

    @Test
    void logsNothingAtWarning() {
        try (LogCapture log = new LogCapture(Level.WARNING)) {
            decide(Events.rejected(List.of(login), 0));
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void ignoresAllowedAndDegradedDecisions() {
        try (LogCapture log = new LogCapture(Level.FINE)) {
            decide(Events.allowed(List.of(login), 1));
            decide(Events.degraded(List.of(login), FailureMode.CLOSED));
            assertThat(log.lines()).isEmpty();
            assertThat(notified).isEmpty();
        }
    }

    @Test
    void notifiesOfThePolicyWithTheLongestWait() {
        decide(Events.rejected(List.of(api, login), 0, 5, 0));
        assertThat(notified).singleElement().satisfies(event -> {
            assertThat(event.policy()).isEqualTo("login");
            assertThat(event.endpoint()).isEqualTo("Search.find");
            assertThat(event.cost()).isEqualTo(2);
            assertThat(event.key()).isEqualTo(keys.of(USER)).doesNotContain("alice");
            assertThat(event.decision().violatedPolicies()).containsExactly("api", "login");
        });
    }

    @Test
    void notifiesOfTheKeyThatTheLimitRejects() {
        Charge other = charge(LOGIN, ADDRESS, 3);
        Decision.Rejected rejected = new Decision.Rejected(List.of(
                new ChargeResult("login", false, Events.quotas(List.of(other), 5)),
                new ChargeResult("login", false, Events.quotas(List.of(login), 0))));
        decide(new DecisionEvent("Search.find", List.of(other, login), rejected, 0));
        assertThat(notified).singleElement().satisfies(event -> {
            assertThat(event.key()).isEqualTo(keys.of(USER));
            assertThat(event.cost()).isEqualTo(2);
        });
    }

    @Test
    void logsTheEndOfThePeriodOfACalendarLimit() {
        ZonedDateTime end = ZonedDateTime.parse("2026-12-01T00:00:00+01:00[Europe/Berlin]");
        Quota quota =
                TestQuota.of("login", "login", 3, 3, Duration.ofDays(30), 0, true, 60_000_000, 60_000_000, 0, end, 0);
        try (LogCapture log = new LogCapture(Level.FINE)) {
            decide(Events.rejected(List.of(login), List.of(quota)));

            assertThat(log.lines())
                    .anyMatch(
                            line -> line.contains("retry-after=60s (resets on 1 December 00:00 Europe/Berlin) mode="));
        }
    }

    @Test
    void logsRejectionsInShadowModeAtDebugOnly() {
        List<Charge> charges = List.of(login.asShadow(), api);
        String line = "FINE rejected: policy=login endpoint=Search.find key=" + keys.of(USER)
                + " cost=2 retry-after=1s mode=shadow";
        try (LogCapture log = new LogCapture(Level.FINE)) {
            decide(Events.allowed(charges, Events.quotas(List.of(api), 9, 999), Events.quotas(List.of(login), 0)));
            decide(Events.allowed(charges, Events.quotas(List.of(api), 9, 999), Events.quotas(List.of(login), 1)));
            decide(Events.allowed(charges, Events.quotas(List.of(api), 9, 999), List.of()));
            assertThat(log.lines()).containsExactly(line);
            decide(Events.rejected(charges, Events.quotas(List.of(api), 9, 0)));
            assertThat(log.lines())
                    .filteredOn(text -> text.startsWith("FINE"))
                    .containsExactly(
                            line,
                            "FINE rejected: policy=api endpoint=Search.find key=" + keys.of(ADDRESS)
                                    + " cost=1 retry-after=2s mode=enforce");
        }
        try (LogCapture log = new LogCapture()) {
            decide(Events.allowed(charges, Events.quotas(List.of(api), 9, 999), Events.quotas(List.of(login), 0)));
            assertThat(log.lines()).isEmpty();
        }
        assertThat(notified)
                .singleElement()
                .satisfies(rejection -> assertThat(rejection.policy()).isEqualTo("api"));
    }
}
