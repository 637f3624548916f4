// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** Instances on one store, with one clock that a test moves. */
final class SimulatedFleet {
    final FakeFleetStore store = new FakeFleetStore();
    final AtomicLong nanos = new AtomicLong(5_000_000_000_000L);
    final List<Member> members = new ArrayList<>();

    /** An instance. */
    final class Member {
        final FakeOperations operations = new FakeOperations();
        final LiveRates rates = new LiveRates(nanos::get);
        final FleetConsole console;

        String host;

        private Member(int number) {
            host = "host-" + number;
            operations.fleetStore = Optional.of(store);
            operations.blocks = new KnownBlocks(nanos::get);
            Instant started = store.now.minusSeconds(3_600 - number);
            console = FleetConsole.of(
                    operations,
                    rates,
                    () -> new InstanceReport.Origin(host, "4711-000" + number % 10, "1.0", "server", "17", started),
                    new StoreClock(),
                    nanos::get);
        }

        void report() {
            console.reports().run();
        }

        /** Lets the timer run as often as it does in a time, which passes. */
        void run(Duration time) {
            for (Duration left = time;
                    !left.isNegative() && !left.isZero();
                    left = left.minus(ScheduledReports.CHECK_INTERVAL)) {
                pass(ScheduledReports.CHECK_INTERVAL);
                console.schedule().run();
            }
        }

        Fleet fleet() {
            return console.reader().read();
        }

        void decide(String policy, int allowed, int rejected) {
            for (int i = 0; i < allowed + rejected; i++) {
                boolean isRejected = i >= allowed;
                Quota quota = TestQuota.of(policy, policy, 10, 10, Duration.ofMinutes(1), 5, isRejected, 0, 0, 0);
                PolicyLimits limits =
                        new PolicyLimits(policy, List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofMinutes(1))));
                rates.decided(new DecisionEvent(
                        "Api.get",
                        List.of(new Charge(limits, "i.1", 1)),
                        isRejected
                                ? new Decision.Rejected(Results.of(quota))
                                : new Decision.Allowed(Results.of(quota), Receipt.EMPTY),
                        1));
            }
        }
    }

    private final class StoreClock extends Clock {
        @Override
        public Instant instant() {
            return store.now;
        }

        @Override
        public ZoneOffset getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(java.time.ZoneId zone) {
            return this;
        }
    }

    SimulatedFleet(int size) {
        IntStream.rangeClosed(1, size).forEach(number -> members.add(new Member(number)));
    }

    Member member(int index) {
        return members.get(index);
    }

    void reportAll() {
        members.forEach(Member::report);
    }

    void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
        store.now = store.now.plus(time);
    }
}
