// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.run;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.run.InstanceProcess.Program;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A run: instances with callers, and a nemesis that causes faults meanwhile.
 *
 * @param seed selects the operations and the faults
 * @param instances the number of instances
 * @param http the number of those that are called over HTTP, the last ones
 * @param topology the servers of Redis
 * @param length the time in which faults begin
 * @param troubles the faults that can happen
 * @param pairs whether two faults can happen together
 * @param recovery the time in which the callers continue after the last fault
 * @param pace by how much the pauses between calls are longer, for many runs at the same time
 */
public record Run(
        long seed,
        int instances,
        int http,
        Topology topology,
        Duration length,
        List<String> troubles,
        boolean pairs,
        Duration recovery,
        int pace) {
    /** The deadline of decisions. */
    private static final Duration DEADLINE = Duration.ofMillis(250);

    /** The time in which everything recovers, with some of it to show that. */
    public static final Duration RECOVERY = Duration.ofSeconds(15);

    private static final Duration FIRST_CALL_WITHIN = Duration.ofMinutes(5);

    /** The least number of known decisions. A run continues for that, for a minute at most. */
    private static final int LEAST = 4_000;

    private static final Duration LATEST = Duration.ofMinutes(1);

    /** Returns the names of all faults. */
    public static List<String> allTroubles() {
        return Trouble.ALL.stream().map(Trouble::name).toList();
    }

    /** Returns the names of the faults that are possible on a topology. */
    public static List<String> troubles(Topology topology) {
        return Trouble.ALL.stream()
                .filter(trouble -> trouble.topologies().contains(topology))
                .map(Trouble::name)
                .toList();
    }

    /** Returns the names of those faults that need a tool which is not installed. */
    public static List<String> missingTroubles() {
        return RedisClock.isAvailable()
                ? List.of()
                : Trouble.ALL.stream()
                        .filter(Trouble::isOfClock)
                        .map(Trouble::name)
                        .toList();
    }

    /** Returns the class path of this program, also within the test runner. */
    public static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** Returns the policies by name. */
    public static Map<String, Policy> policies() {
        return Workload.policies().stream().collect(Collectors.toMap(Policy::name, Function.identity()));
    }

    /**
     * Runs the instances of Weir.
     *
     * @param folder the folder for data and logs
     */
    public History execute(Path folder) {
        return execute(folder, Instance.class, classPath(), Map.of());
    }

    /**
     * Runs other instances.
     *
     * @param folder the folder for data and logs
     * @param instance the program of an instance, except of those that are called over HTTP
     * @param classPath its class path
     * @param properties more properties of its limiter
     */
    public History execute(Path folder, Class<?> instance, String classPath, Map<String, String> properties) {
        Recorder recorder = new Recorder();
        Map<String, String> values = new TreeMap<>(Map.of(
                "ratelimit.backend", "redisson",
                "ratelimit.redis.deadline", DEADLINE.toMillis() + "ms",
                "ratelimit.instances", String.valueOf(instances),
                "ratelimit.changes.enabled", "true",
                "ratelimit.changes.role", "operator"));
        values.putAll(Workload.client());
        Workload.policies().forEach(policy -> values.putAll(policy.properties()));
        values.putAll(properties);
        long start = System.nanoTime();
        boolean isStepped = selected().stream().anyMatch(Trouble::isOfClock);
        Servers servers = topology.start(instances, folder, isStepped);
        List<Program> programs = IntStream.range(0, instances)
                .mapToObj(i -> new Program(i < instances - http ? instance : HttpInstance.class, classPath))
                .toList();
        try (Stalls stalls = new Stalls(slow -> recorder.slow(Fault.ALL, slow));
                Stage stage = new Stage(servers, programs, values, folder, recorder)) {
            for (int i = 0; i < instances; i++) {
                InstanceProcess process = stage.instance(i);
                Await.until(
                        "an instance is connected",
                        FIRST_CALL_WITHIN,
                        () -> process.run(Kind.PEEK, Workload.policies().get(0).name(), "first", 0, 0)
                                        .outcome()
                                == Outcome.DONE);
            }
            stalls.start();
            Workload workload = new Workload(stage, this);
            workload.start();
            cause(stage, recorder);
            TimeUnit.NANOSECONDS.sleep(recovery.toNanos());
            workload.end();
            stage.timesToLive().forEach((key, life) -> recorder.key(key, life));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        List<Operation> operations = recorder.operations();
        operations.stream()
                .filter(operation -> operation.outcome() == Outcome.BROKEN)
                .findFirst()
                .ifPresent(operation -> {
                    throw new IllegalStateException(
                            operation.describe(start) + " threw an exception, see the log in " + folder);
                });
        return new History(seed, instances, DEADLINE, policies(), operations, recorder.faults(), start);
    }

    private List<Trouble> selected() {
        return Trouble.ALL.stream()
                .filter(trouble -> troubles.contains(trouble.name()))
                .toList();
    }

    private void cause(Stage stage, Recorder recorder) throws InterruptedException {
        Random random = new Random(seed);
        List<Trouble> possible = selected();
        long end = System.nanoTime() + length.toNanos();
        // A busy machine needs more time for the calls that show something.
        long latest = end + LATEST.toNanos();
        while (System.nanoTime() < end || (recorder.decided() < LEAST && System.nanoTime() < latest)) {
            TimeUnit.MILLISECONDS.sleep(1_500 + random.nextInt(3_000));
            if (possible.isEmpty()) {
                continue;
            }
            List<Started> started = new ArrayList<>();
            Trouble first = possible.get(random.nextInt(possible.size()));
            started.add(new Started(first, stage, random));
            Trouble second = possible.get(random.nextInt(possible.size()));
            if (pairs && random.nextInt(3) == 0 && !first.excludes(second)) {
                TimeUnit.MILLISECONDS.sleep(random.nextInt(500));
                started.add(new Started(second, stage, random));
            }
            for (Started trouble : started) {
                TimeUnit.MILLISECONDS.sleep(
                        200 + random.nextInt((int) trouble.trouble.longest().toMillis()));
                recorder.add(trouble.end(stage));
            }
        }
    }

    /** A fault that has not ended. */
    private static final class Started {
        private final Trouble trouble;
        private final int instance;
        private final long start;
        private final Runnable end;

        Started(Trouble trouble, Stage stage, Random random) {
            this.trouble = trouble;
            int one = random.nextInt(stage.size());
            this.instance = trouble.isOfOne() ? one : Fault.ALL;
            this.start = System.nanoTime();
            this.end = trouble.cause().start(stage, one, random);
        }

        Fault end(Stage stage) throws InterruptedException {
            end.run();
            // Another fault of an instance does not end while Redis is still stopped.
            if (!trouble.isOfOne()) {
                stage.awaitRedis();
            }
            TimeUnit.NANOSECONDS.sleep(trouble.after().toNanos());
            return new Fault(trouble.name(), trouble.effects(), instance, start, System.nanoTime());
        }
    }
}
