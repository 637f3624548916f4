// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.TestThreads;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * A backend with the configuration of an application, under load, and a temporary fault. One load has a limit that it never reaches, so
 * that its permits can be counted. The other load has a limit that it soon exhausts, so that excess permits show. At the end, the scenario
 * adds a row to the table of faults.
 */
final class Scenario implements AutoCloseable {
    static final boolean FULL = Boolean.getBoolean("weir.test.full");

    /** The deadline of the table, or one that a call on a loaded machine meets if Redis is available. */
    private static final Duration DEADLINE = FULL ? FaultCalls.DEADLINE : Duration.ofMillis(500);

    private static final Duration BREAKER_DELAY = FULL ? Duration.ofSeconds(1) : Duration.ofMillis(200);

    /** The time after the first connection in which the breaker of an application counts no failures, with a margin. */
    private static final Duration COLD = Duration.ofMillis(1_200);

    private static final Duration MONTH = Duration.ofDays(30);
    private static final long FEW = 100;

    private final Fault fault;
    private final String namespace = "fault-" + UUID.randomUUID();
    private final TestThreads before = TestThreads.snapshot();
    private final RedissonBackend backend;
    private final LoadedBackend load;
    private final LoadedBackend scarce;
    private final Charge many = ClusterUnderFault.charge("k.many", 1, Algorithm.FIXED_WINDOW, 10_000_000, MONTH);
    private final Charge few = ClusterUnderFault.charge("k.few", 1, Algorithm.SLIDING_WINDOW, FEW, MONTH);
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
                        String.valueOf(BREAKER_DELAY.toMillis())))
                .started();
        if (ready) {
            FaultCalls.awaitDecision(backend);
        }
        this.load = LoadedBackend.onAnyBackend(backend, many);
        this.scarce = LoadedBackend.ofOneCaller(backend, few);
    }

    /** Starts a scenario whose backend is available before the fault. */
    static Scenario of(Fault fault, String address) {
        Scenario scenario = new Scenario(fault, address, true);
        scenario.load.awaitDecisions();
        if (FULL) {
            pass(COLD);
        }
        return scenario;
    }

    /** Starts a scenario whose backend starts during the fault. */
    static Scenario fromTheStart(Fault fault, String address) {
        return new Scenario(fault, address, false);
    }

    /** Causes the fault and ends it. */
    Scenario during(Runnable fault) {
        beganNanos = System.nanoTime();
        return until(fault);
    }

    /** Ends the fault of a scenario from the start. */
    Scenario until(Runnable fault) {
        fault.run();
        endedNanos = System.nanoTime();
        return this;
    }

    /** Lets the fault last for the time of the table, or until the breaker has opened and a probe has failed. */
    void lasts(Duration timeOfTable) {
        if (FULL) {
            pass(timeOfTable);
        } else {
            load.awaitFailedProbe(BREAKER_DELAY.plus(DEADLINE));
        }
    }

    /** Lets some time pass under load. */
    static void lasts(Duration timeOfTable, Duration otherwise) {
        pass(FULL ? timeOfTable : otherwise);
    }

    private static void pass(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Returns the key of the load in Redis. */
    String key() {
        return "weir:2:{" + namespace + ":k.many}:" + many.policy().policy();
    }

    /** Returns the load that never reaches its limit. */
    LoadedBackend load() {
        return load;
    }

    /** Returns the load that exhausts its limit. */
    LoadedBackend scarce() {
        return scarce;
    }

    /** Waits until all calls are decided again, checks the spent permits, and adds the row. */
    void recovers() {
        load.awaitSteadyDecisions();
        Await.until("the small limit is exhausted", Duration.ofSeconds(30), () -> scarce.rejected() > 0);
        load.end(DEADLINE);
        scarce.end(DEADLINE);
        long spent = FaultCalls.spent(backend, many);
        assertThat(spent)
                .as("spent permits, each at most once: %s", load)
                .isBetween(load.allowed(), load.allowed() + load.uncertain());
        assertThat(load.rejected()).isZero();
        assertThat(FaultCalls.spent(backend, few)).as(scarce.toString()).isEqualTo(FEW);
        assertThat(scarce.allowed()).as(scarce.toString()).isBetween(FEW - scarce.uncertain(), FEW);
        FaultTable.add(fault, beganNanos, endedNanos, spent, load);
    }

    /** Closes the backend, and checks that no thread of it is left. */
    @Override
    public void close() {
        load.close();
        scarce.close();
        backend.close();
        before.awaitNoNewThreads();
    }
}
