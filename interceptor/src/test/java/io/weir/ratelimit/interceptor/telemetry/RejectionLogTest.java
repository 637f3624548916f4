// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static io.weir.ratelimit.interceptor.telemetry.Events.ADDRESS;
import static io.weir.ratelimit.interceptor.telemetry.Events.API;
import static io.weir.ratelimit.interceptor.telemetry.Events.LOGIN;
import static io.weir.ratelimit.interceptor.telemetry.Events.USER;
import static io.weir.ratelimit.interceptor.telemetry.Events.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
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
    private final List<RateLimitRejected> heard = new ArrayList<>();
    private final RejectionLog lines = new RejectionLog(keys, nanos::get);
    private final Rejections events = new Rejections(keys, heard::add);
    private final Charge api = charge(API, ADDRESS, 1);
    private final Charge login = charge(LOGIN, USER, 2);

    private void hear(DecisionEvent event) {
        lines.onDecision(event);
        events.onDecision(event);
    }

    @Test
    void eachRefusalIsALineAtDebug() {
        try (LogCapture log = new LogCapture(Level.FINE)) {
            hear(Events.rejected(List.of(login), 0));
            hear(Events.rejected(List.of(login), 0));
            String line = "FINE refused: policy=login endpoint=Search.find key=" + keys.of(USER)
                    + " cost=2 retry-after=1s mode=enforce";
            assertThat(log.lines()).filteredOn(text -> text.startsWith("FINE")).containsExactly(line, line);
        }
    }

    @Test
    void atInfoItIsOneLinePerPolicyAndMinuteWithTheNumber() {
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 100; i++) {
                hear(Events.rejected(List.of(login), 0));
            }
            hear(Events.rejected(List.of(api), 5, 0));
            nanos.addAndGet(TimeUnit.MINUTES.toNanos(1) - 1);
            hear(Events.rejected(List.of(login), 0));
            assertThat(log.lines())
                    .containsExactly(
                            "INFO WEIR-306 Policy login rejected calls. Number since the last such message: 1. Last rejection: Search.find, key "
                                    + keys.of(USER) + ", cost 2, retry after 1s.",
                            "INFO WEIR-306 Policy api rejected calls. Number since the last such message: 1. Last rejection: Search.find, key "
                                    + keys.of(ADDRESS) + ", cost 1, retry after 2s.");
            nanos.incrementAndGet();
            hear(Events.rejected(List.of(login), 0));
            assertThat(log.lines()).hasSize(3).last().asString().contains("Number since the last such message: 101.");
        }
    }

    @Test
    void atWarningThereIsNoLine() {
        try (LogCapture log = new LogCapture(Level.WARNING)) {
            hear(Events.rejected(List.of(login), 0));
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void onlyARefusalIsOne() {
        try (LogCapture log = new LogCapture(Level.FINE)) {
            hear(Events.allowed(List.of(login), 1));
            hear(Events.degraded(List.of(login), FailureMode.CLOSED));
            assertThat(log.lines()).isEmpty();
            assertThat(heard).isEmpty();
        }
    }

    @Test
    void thoseWhoHearOfARefusalHearOfThePolicyThatDecidedTheWait() {
        hear(Events.rejected(List.of(api, login), 0, 5, 0));
        assertThat(heard).singleElement().satisfies(event -> {
            assertThat(event.policy()).isEqualTo("login");
            assertThat(event.endpoint()).isEqualTo("Search.find");
            assertThat(event.cost()).isEqualTo(2);
            assertThat(event.key()).isEqualTo(keys.of(USER)).doesNotContain("alice");
            assertThat(event.decision().violatedPolicies()).containsExactly("api", "login");
        });
    }

    @Test
    void whatAPolicyInShadowModeWouldHaveRefusedIsALineAtDebugOnly() {
        List<Charge> charges = List.of(login.asShadow(), api);
        String line = "FINE refused: policy=login endpoint=Search.find key=" + keys.of(USER)
                + " cost=2 retry-after=1s mode=shadow";
        try (LogCapture log = new LogCapture(Level.FINE)) {
            hear(Events.allowed(charges, Events.quotas(List.of(api), 9, 999), Events.quotas(List.of(login), 0)));
            hear(Events.allowed(charges, Events.quotas(List.of(api), 9, 999), Events.quotas(List.of(login), 1)));
            hear(Events.allowed(charges, Events.quotas(List.of(api), 9, 999), List.of()));
            assertThat(log.lines()).containsExactly(line);
            hear(Events.rejected(charges, Events.quotas(List.of(api), 9, 0)));
            assertThat(log.lines())
                    .filteredOn(text -> text.startsWith("FINE"))
                    .containsExactly(
                            line,
                            "FINE refused: policy=api endpoint=Search.find key=" + keys.of(ADDRESS)
                                    + " cost=1 retry-after=2s mode=enforce");
        }
        try (LogCapture log = new LogCapture()) {
            hear(Events.allowed(charges, Events.quotas(List.of(api), 9, 999), Events.quotas(List.of(login), 0)));
            assertThat(log.lines()).isEmpty();
        }
        assertThat(heard)
                .singleElement()
                .satisfies(rejection -> assertThat(rejection.policy()).isEqualTo("api"));
    }
}
