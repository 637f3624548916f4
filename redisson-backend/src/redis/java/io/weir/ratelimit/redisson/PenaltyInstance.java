// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.events.Penalties;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.redisson.api.RedissonClient;

/** An instance in a process of its own, whose threads all call with one key until it is blocked. */
final class PenaltyInstance implements AutoCloseable {
    static final long PERMITS = 10;

    /** More rejections than threads, so that many of them are counted together. */
    static final PenaltyRule RULE =
            new PenaltyRule(500, Duration.ofMinutes(1), Duration.ofMinutes(15), 2, Duration.ofHours(1));

    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final String READY = "ready";

    private final ChildJvm jvm;
    private final BufferedReader output;

    private PenaltyInstance(ChildJvm jvm) {
        this.jvm = jvm;
        this.output = new BufferedReader(new InputStreamReader(jvm.process().getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts an instance that waits for {@link #call}. */
    static PenaltyInstance started(String address, String namespace, int threads) {
        return new PenaltyInstance(ChildJvm.withOutput(
                ProcessBuilder.Redirect.DISCARD, PenaltyInstance.class, address, namespace, String.valueOf(threads)));
    }

    /** Waits until the instance decides. */
    void awaitReady() throws IOException {
        for (String line = output.readLine(); !READY.equals(line); line = output.readLine()) {
            if (line == null) {
                throw new AssertionError("the instance has ended");
            }
        }
    }

    /** Lets the threads call. */
    void call() throws IOException {
        OutputStream input = jvm.process().getOutputStream();
        input.write('\n');
        input.flush();
    }

    /** Returns the lines of the instance: its penalties, and then its allowed calls. */
    List<String> lines() throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            lines.add(line);
        }
        return lines;
    }

    @Override
    public void close() {
        jvm.close();
    }

    /**
     * Calls until the key is blocked.
     *
     * @param arguments address, namespace and the number of threads
     */
    public static void main(String... arguments) throws Exception {
        RedissonClient client = ChildJvm.client(arguments[0]);
        RedissonBackend backend = new RedissonBackend(client, arguments[1], DEADLINE);
        FaultCalls.awaitDecision(backend);
        RateLimitEngine engine = engine(backend);
        Binding binding = binding();
        System.out.println(READY);
        int started = System.in.read();
        ExecutorService threads = Executors.newFixedThreadPool(Integer.parseInt(arguments[2]));
        List<Future<Integer>> callers = new ArrayList<>();
        for (int thread = 0; thread < Integer.parseInt(arguments[2]) && started >= 0; thread++) {
            callers.add(threads.submit(() -> untilBlocked(engine, binding)));
        }
        int allowed = 0;
        for (Future<Integer> caller : callers) {
            allowed += caller.get();
        }
        System.out.println("allowed " + allowed);
        threads.shutdown();
        backend.close();
        client.shutdown();
    }

    private static int untilBlocked(RateLimitEngine engine, Binding binding) {
        int allowed = 0;
        while (true) {
            Decision decision = engine.decide(binding, TestCall.byPrincipal("ann"), null);
            allowed += decision.allowed() ? 1 : 0;
            if (decision instanceof Decision.Rejected rejected && rejected.blocked()) {
                return allowed;
            }
        }
    }

    private static RateLimitEngine engine(RateLimitBackend backend) {
        return RedisEngine.of(
                RedisEngine.withFallback(backend, RedisEngine.NO_LOCAL, DEADLINE),
                RedisEngine.PLAIN,
                Overrides.NONE,
                QuotaThresholds.NONE,
                new Penalties(
                        backend,
                        new KeyMasker(Optional.empty()),
                        () -> Runnable::run,
                        List.of(PenaltyInstance::print),
                        List.of(),
                        new KnownBlocks(System::nanoTime)));
    }

    private static void print(PenaltyImposed penalty) {
        System.out.println("penalty " + penalty.number() + " of " + penalty.duration());
    }

    private static Binding binding() {
        Policy policy = RedisEngine.policy(
                new PolicyLimits(
                        TestBackend.POLICY, List.of(Limit.of(Algorithm.FIXED_WINDOW, PERMITS, Duration.ofHours(1)))),
                Policy.Mode.ENFORCE,
                List.of(),
                Optional.of(RULE),
                0);
        return new Binding("Search.find", List.of(new Binding.PolicyCost(policy, 1)));
    }
}
