// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.ratelimit.fixtures.BusyProcessors;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A fault that the nemesis can cause.
 *
 * @param name the name, which an argument of the program has
 * @param effects what it can do
 * @param isOfOne whether it concerns one instance
 * @param longest the longest time of the fault
 * @param after the time until its cause is gone after it has ended
 * @param topologies the servers on which it is possible
 */
record Trouble(
        String name,
        Set<Effect> effects,
        boolean isOfOne,
        Duration longest,
        Duration after,
        Set<Topology> topologies,
        Cause cause) {
    /** Less than the outage that slots with the default timeout survive. */
    private static final Duration SHORT = Duration.ofSeconds(4);

    private static final Duration INSTANT = Duration.ofMillis(1);

    /** Longer than the shortest timeout of slots. */
    private static final Duration LONG = Duration.ofSeconds(9);

    /** The time by which a replica lags. */
    private static final Duration LAG = Duration.ofMillis(500);

    private static final Duration MOST_DELAY = Duration.ofMillis(400);
    private static final long HOUR_MILLIS = Duration.ofHours(1).toMillis();

    /** All faults. */
    static final List<Trouble> ALL = List.of(
            ofRedis("redis-stopped", Set.of(Effect.OUTAGE), stage -> {
                stage.single().redis().pause();
                return stage.single().redis()::resume;
            }),
            ofRedis("redis-without-data", Set.of(Effect.OUTAGE, Effect.LOSS), stage -> {
                stage.single().redis().kill();
                return stage.single()::startEmpty;
            }),
            ofRedis("redis-restarted", Set.of(Effect.OUTAGE), stage -> {
                stage.single().redis().kill();
                return stage.single().redis()::start;
            }),
            // As a failover to a replica that has not received the last calls.
            ofRedis("redis-failover", Set.of(Effect.OUTAGE, Effect.LOSS, Effect.ROLLBACK), stage -> {
                stage.single().keepCopy();
                sleep(LAG);
                stage.single().redis().kill();
                return stage.single()::startWithCopy;
            }),
            ofClock("redis-clock-forward", Effect.AHEAD, 1),
            ofClock("redis-clock-back", Effect.BEHIND, -1),
            new Trouble(
                    "sentinel-failover",
                    Set.of(Effect.OUTAGE, Effect.LOSS, Effect.ROLLBACK),
                    false,
                    INSTANT,
                    Duration.ZERO,
                    Set.of(Topology.SENTINEL),
                    (stage, instance, random) -> {
                        stage.sentinel().killMaster();
                        return stage.sentinel()::awaitFailover;
                    }),
            new Trouble(
                    "slot-migrated",
                    Set.of(),
                    false,
                    INSTANT,
                    Duration.ZERO,
                    Set.of(Topology.CLUSTER),
                    (stage, instance, random) -> stage.cluster().moveSlot(random)),
            of("scripts-flushed", Set.of(), Topology.ALL, stage -> {
                stage.command("SCRIPT", "FLUSH");
                return () -> stage.command("SCRIPT", "FLUSH");
            }),
            ofRedis("out-of-memory", Set.of(Effect.OUTAGE), stage -> {
                stage.command("CONFIG", "SET", "maxmemory", "1");
                return () -> stage.command("CONFIG", "SET", "maxmemory", "0");
            }),
            of("connections-killed", Set.of(Effect.OUTAGE), Topology.ALL, stage -> {
                stage.command("CLIENT", "KILL", "TYPE", "normal");
                return () -> stage.command("CLIENT", "KILL", "TYPE", "normal");
            }),
            ofProxy("slow", Duration.ZERO, (stage, instance, random) -> {
                stage.single()
                        .proxy(instance)
                        .delay(Duration.ofMillis(1 + random.nextInt((int) MOST_DELAY.toMillis())));
                return stage.single().proxy(instance)::forward;
            }),
            // A connection without an answer is replaced within two seconds.
            ofProxy("half-open", Duration.ofSeconds(3), (stage, instance, random) -> {
                stage.single().proxy(instance).blackhole();
                return stage.single().proxy(instance)::forward;
            }),
            ofProxy("replies-lost", Duration.ZERO, (stage, instance, random) -> {
                stage.single().proxy(instance).loseReplies();
                return stage.single().proxy(instance)::forward;
            }),
            ofProxy("reset", Duration.ZERO, (stage, instance, random) -> {
                stage.single().proxy(instance).resetConnections();
                return stage.single().proxy(instance)::forward;
            }),
            ofProxy("partition", Duration.ZERO, (stage, instance, random) -> {
                stage.single().proxy(instance).hold();
                return stage.single().proxy(instance)::forward;
            }),
            ofOne("instance-killed", SHORT, Effect.DEATH, (stage, instance, random) -> {
                stage.instance(instance).kill();
                return stage.instance(instance)::start;
            }),
            ofOne("instance-paused", LONG, Effect.PAUSE, (stage, instance, random) -> {
                stage.instance(instance).signal("-STOP");
                return () -> stage.instance(instance).signal("-CONT");
            }),
            ofOne("clock-stepped", LONG, Effect.STEP, (stage, instance, random) -> {
                stage.instance(instance).clock(random.nextBoolean() ? HOUR_MILLIS : -HOUR_MILLIS);
                return () -> stage.instance(instance).clock(0);
            }),
            of("starved", Set.of(Effect.STARVATION), Topology.ALL, stage -> BusyProcessors.started()::close));

    /** Causes a fault, and returns how to end it. */
    interface Cause {
        Runnable start(Stage stage, int instance, Random random);
    }

    private interface CauseOfAll {
        Runnable start(Stage stage);
    }

    private static void sleep(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static Trouble ofRedis(String name, Set<Effect> effects, CauseOfAll cause) {
        return of(name, effects, Set.of(Topology.SINGLE), cause);
    }

    private static Trouble of(String name, Set<Effect> effects, Set<Topology> topologies, CauseOfAll cause) {
        return new Trouble(
                name,
                effects,
                false,
                SHORT,
                Duration.ZERO,
                topologies,
                (stage, instance, random) -> cause.start(stage));
    }

    /** A step without an end: the next one is from the stepped time on. */
    private static Trouble ofClock(String name, Effect effect, int direction) {
        return new Trouble(
                name,
                Set.of(effect),
                false,
                INSTANT,
                Duration.ZERO,
                Set.of(Topology.SINGLE),
                (stage, instance, random) -> {
                    long millis = 1 + random.nextInt((int) Fault.MOST_STEP.toMillis());
                    stage.single().step(Duration.ofMillis(direction * millis));
                    return () -> {};
                });
    }

    private static Trouble ofProxy(String name, Duration after, Cause cause) {
        return new Trouble(name, Set.of(Effect.OUTAGE), true, SHORT, after, Set.of(Topology.SINGLE), cause);
    }

    private static Trouble ofOne(String name, Duration longest, Effect effect, Cause cause) {
        return new Trouble(name, Set.of(effect), true, longest, Duration.ZERO, Topology.ALL, cause);
    }

    /** Returns whether this fault needs libfaketime. */
    boolean isOfClock() {
        return effects.contains(Effect.AHEAD) || effects.contains(Effect.BEHIND);
    }

    /** Returns whether this fault and another one cannot happen together. */
    boolean excludes(Trouble other) {
        return (isOfServers() && !other.isOfOne) || (other.isOfServers() && !isOfOne) || equals(other);
    }

    private boolean isOfServers() {
        return Stream.of("redis-", "sentinel-", "slot-").anyMatch(name::startsWith);
    }
}
