// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.events.RejectionListener;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.limit.CalendarBounds;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.redisson.api.RedissonClient;

/**
 * An instance in a process of its own that reports used shares. For each line with an instant, it sets the clock of its scripts to the
 * instant, calls until each key has used all its permits, and writes the events that one of its observers receives.
 */
final class ThresholdInstance implements AutoCloseable {
    static final int KEYS = 5;
    static final int PERMITS = 100;
    static final List<Integer> SHARES = List.of(1, 50, 80, 100);
    static final List<String> POLICIES = List.of("window", "month", "bucket");

    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final int THREADS = 6;
    private static final int CALLS = 40;
    private static final String EVENT = "event ";
    private static final String DONE = "done";

    private final ChildJvm jvm;
    private final BufferedReader lines;

    private ThresholdInstance(ChildJvm jvm) {
        this.jvm = jvm;
        this.lines = jvm.process().inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts an instance.
     *
     * @param clockDifference the difference of its clock to that of Redis
     * @param log receives its messages
     */
    static ThresholdInstance started(String address, String namespace, Duration clockDifference, Path log) {
        return new ThresholdInstance(ChildJvm.withOutput(
                ProcessBuilder.Redirect.to(log.toFile()),
                ThresholdInstance.class,
                address,
                namespace,
                clockDifference.toString()));
    }

    /** Lets the instance call at an instant. */
    void call(Instant instant) throws IOException {
        jvm.process().getOutputStream().write((instant + "\n").getBytes(StandardCharsets.UTF_8));
        jvm.process().getOutputStream().flush();
    }

    /** Waits for the calls of an instant and returns the received events, each as policy, user and percent. */
    List<String> events() throws IOException {
        List<String> events = new ArrayList<>();
        for (String line = lines.readLine(); !DONE.equals(line); line = lines.readLine()) {
            if (line == null) {
                throw new AssertionError("the instance has ended");
            }
            if (line.startsWith(EVENT)) {
                events.add(line.substring(EVENT.length()));
            }
        }
        return events;
    }

    @Override
    public void close() {
        jvm.close();
    }

    /**
     * Calls at each instant of the standard input.
     *
     * @param arguments address, namespace, and the difference of the clock
     */
    public static void main(String... arguments) throws Exception {
        RedissonClient client = ChildJvm.client(arguments[0]);
        AtomicLong micros = new AtomicLong();
        RedissonBackend backend = new RedissonBackend(
                new RedisClient(() -> client, false, arguments[1], DEADLINE), arguments[1], DEADLINE, micros::get);
        FaultCalls.awaitDecision(backend);
        long clockDifference = Duration.parse(arguments[2]).toMillis() * 1_000;
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Instant instant = Instant.parse(line);
            micros.set(ChronoUnit.MICROS.between(CalendarBounds.ORIGIN, instant));
            long clock = ChronoUnit.MICROS.between(Instant.EPOCH, instant) + clockDifference;
            ExecutorService reports = Executors.newFixedThreadPool(2);
            spendAll(engine(backend, () -> reports, clock));
            reports.shutdown();
            if (!reports.awaitTermination(30, TimeUnit.SECONDS)) {
                throw new AssertionError("the reports have not ended");
            }
            System.out.println(DONE);
        }
        client.shutdown();
    }

    private static RateLimitEngine engine(RateLimitBackend backend, Supplier<ExecutorService> reports, long clock) {
        Consumer<QuotaThresholdReached> failing = event -> {
            throw new IllegalStateException("the observer of the test fails");
        };
        Consumer<QuotaThresholdReached> writing = event -> System.out.println(
                EVENT + event.policy() + " " + event.identity().parts().get(0).value() + " " + event.percent());
        return RedisEngine.of(
                RedisEngine.withFallback(backend, RedisEngine.NO_LOCAL, DEADLINE),
                RedisEngine.PLAIN,
                Overrides.NONE,
                new QuotaThresholds(
                        backend,
                        RedisEngine.PLAIN,
                        new KeyMasker(Optional.empty()),
                        reports::get,
                        () -> clock,
                        List.of(failing, writing, failing)),
                RejectionListener.NONE);
    }

    private static void spendAll(RateLimitEngine engine) throws Exception {
        Binding binding = binding();
        ExecutorService callers = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int index = thread;
                all.add(callers.submit(() -> {
                    for (int call = 0; call < CALLS; call++) {
                        RequestState request = new RequestState(TestCall.byPrincipal("user" + (index + call) % KEYS));
                        engine.decide(binding, request.caller(), request);
                        for (int policy = 0; policy < POLICIES.size() && call % 3 == 0; policy++) {
                            // Some calls cost nothing in the end, and some cost more than they have reserved.
                            engine.settlements().settle(request, POLICIES.get(policy), call % 2 == 0 ? 0 : 3);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            callers.shutdownNow();
        }
        for (int key = 0; key < KEYS; key++) {
            for (int call = 0; call < PERMITS; call++) {
                engine.decide(binding, TestCall.byPrincipal("user" + key), null);
            }
        }
    }

    private static Binding binding() {
        Duration window = Duration.ofDays(30);
        return new Binding(
                "Search.find",
                List.of(
                        policy(POLICIES.get(0), Limit.of(Algorithm.FIXED_WINDOW, PERMITS, window)),
                        policy(
                                POLICIES.get(1),
                                Limit.of(
                                        PERMITS,
                                        new CalendarPeriod(CalendarPeriod.Unit.MONTH, ZoneId.of("Europe/Berlin"), 1))),
                        policy(POLICIES.get(2), Limit.of(Algorithm.TOKEN_BUCKET, PERMITS, window))));
    }

    private static Binding.PolicyCost policy(String name, Limit limit) {
        return new Binding.PolicyCost(
                RedisEngine.policy(
                        new PolicyLimits(name, List.of(limit)), Policy.Mode.ENFORCE, SHARES, Optional.empty(), 0),
                1);
    }
}
