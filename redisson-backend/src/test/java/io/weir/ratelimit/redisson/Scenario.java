// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * A store as an application configures it, under load, and a fault that comes and goes. One load has a limit that is never
 * reached, so that what is spent can be counted; another one has a limit that is soon exhausted, so that it shows if a permit
 * too many was admitted. In the end the fault is a row of the table.
 */
final class Scenario implements AutoCloseable {
    private static final Duration DEADLINE = FaultCalls.DEADLINE;
    private static final Duration MONTH = Duration.ofDays(30);
    private static final long FEW = 100;

    private final Fault fault;
    private final String namespace = "fault-" + UUID.randomUUID();
    private final TestThreads before = TestThreads.now();
    private final RedissonBackend backend;
    private final LoadedStore load;
    private final LoadedStore scarce;
    private final Charge many = ClusterStore.charge("k.many", 1, Algorithm.FIXED_WINDOW, 10_000_000, MONTH);
    private final Charge few = ClusterStore.charge("k.few", 1, Algorithm.SLIDING_WINDOW, FEW, MONTH);
    private long beganNanos;
    private long endedNanos;

    private Scenario(Fault fault, String address, boolean ready) {
        this.fault = fault;
        this.beganNanos = System.nanoTime();
        this.backend = new TestConfig(Map.of(
                        RedisSettings.ADDRESS,
                        address,
                        "ratelimit.namespace",
                        namespace,
                        "ratelimit.redis.deadline",
                        DEADLINE.toMillis() + "ms",
                        "CircuitBreaker/enabled",
                        "true",
                        "CircuitBreaker/delay",
                        "1"))
                .started();
        if (ready) {
            FaultCalls.awaitDecision(backend);
        }
        this.load = LoadedStore.onAnyStore(backend, many);
        this.scarce = LoadedStore.ofOneCaller(backend, few);
    }

    /** A store that decides, before the fault. */
    static Scenario of(Fault fault, String address) {
        Scenario scenario = new Scenario(fault, address, true);
        scenario.load.awaitDecisions();
        return scenario;
    }

    /** A store that starts while the fault is there. */
    static Scenario fromTheStart(Fault fault, String address) {
        return new Scenario(fault, address, false);
    }

    /** Has the fault come and go. */
    Scenario during(Runnable fault) {
        beganNanos = System.nanoTime();
        return until(fault);
    }

    /** Has the fault go that was there from the start. */
    Scenario until(Runnable fault) {
        fault.run();
        endedNanos = System.nanoTime();
        return this;
    }

    /** Leaves the load alone for a while. */
    static void lasts(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** The stored key of the load. */
    String key() {
        return "weir:1:{" + namespace + ":k.many}:" + many.policy().policy() + ":f" + MONTH.toMillis();
    }

    /** The load whose limit is never reached. */
    LoadedStore load() {
        return load;
    }

    /** The load whose limit is soon exhausted. */
    LoadedStore scarce() {
        return scarce;
    }

    /** Waits until all calls are decided again, checks what was spent, and adds the row. */
    void recovers() {
        load.awaitSteadyDecisions();
        Await.until("the few permits are spent", Duration.ofSeconds(30), () -> scarce.refused() > 0);
        load.end(DEADLINE);
        scarce.end(DEADLINE);
        long spent = FaultCalls.spent(backend, many);
        assertThat(spent)
                .as("spent, each at most once: %s", load)
                .isBetween(load.admitted(), load.admitted() + load.uncertain());
        assertThat(load.refused()).isZero();
        assertThat(FaultCalls.spent(backend, few)).as(scarce.toString()).isEqualTo(FEW);
        assertThat(scarce.admitted()).as(scarce.toString()).isBetween(FEW - scarce.uncertain(), FEW);
        FaultTable.add(fault, beganNanos, endedNanos, spent, load);
    }

    /** Ends the store; nothing of it is left. */
    @Override
    public void close() {
        load.close();
        scarce.close();
        backend.close();
        before.awaitEndOfOthers();
    }
}
