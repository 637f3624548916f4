// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static io.weir.ratelimit.fixtures.Events.ADDRESS;
import static io.weir.ratelimit.fixtures.Events.API;
import static io.weir.ratelimit.fixtures.Events.LOGIN;
import static io.weir.ratelimit.fixtures.Events.USER;
import static io.weir.ratelimit.fixtures.Events.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.fixtures.Events;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ForeignStateLogTest {
    private final KeyMasker keys = new KeyMasker(Optional.empty());
    private final AtomicLong nanos = new AtomicLong(-5);
    private final ForeignStateLog foreign = new ForeignStateLog(keys, nanos::get);
    private final Charge api = charge(API, ADDRESS, 1);
    private final Charge login = charge(LOGIN, USER, 2);

    private void fail(Charge... charges) {
        foreign.onDecision(Events.degraded(List.of(charges), FailureMode.OPEN, "foreign-state"));
    }

    private static String line(String keysAndPolicies, int count) {
        return "WARNING WEIR-320 Redis contains foreign data under a key: " + keysAndPolicies
                + ". The on-failure mode of the policy decides such calls. Number since the last such message: "
                + count + ".";
    }

    @Test
    void logsOneLinePerKeyAndMinute() {
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 100; i++) {
                fail(login);
                fail(api);
            }
            nanos.addAndGet(TimeUnit.MINUTES.toNanos(1) - 1);
            fail(login);
            String ofLogin = keys.of(USER) + " of policy login";
            assertThat(log.lines()).containsExactly(line(ofLogin, 1), line(keys.of(ADDRESS) + " of policy api", 1));
            nanos.incrementAndGet();
            fail(login);
            assertThat(log.lines()).hasSize(3).last().isEqualTo(line(ofLogin, 101));
            assertThat(log.lines()).noneMatch(line -> line.contains("alice"));
        }
    }

    @Test
    void namesAllKeysOfADecisionWithoutThoseInShadowMode() {
        try (LogCapture log = new LogCapture()) {
            fail(login, api);
            fail(login.asShadow(), api);
            String ofApi = keys.of(ADDRESS) + " of policy api";
            assertThat(log.lines())
                    .containsExactly(line(keys.of(USER) + " of policy login, " + ofApi, 1), line(ofApi, 1));
        }
    }

    @Test
    void manyKeysShareOneLine() {
        try (LogCapture log = new LogCapture()) {
            for (int key = 0; key < 10_000; key++) {
                fail(charge(LOGIN, "p.user" + key, 1));
            }
            assertThat(log.lines()).hasSize(101);
        }
    }

    @Test
    void ignoresOtherDecisions() {
        try (LogCapture log = new LogCapture()) {
            foreign.onDecision(Events.degraded(List.of(login), FailureMode.OPEN));
            foreign.onDecision(Events.rejected(List.of(login), 0));
            foreign.onDecision(Events.allowed(List.of(login), 1));
            assertThat(log.lines()).isEmpty();
        }
    }
}
