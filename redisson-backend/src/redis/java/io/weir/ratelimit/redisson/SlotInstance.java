// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * An instance in a process of its own, whose threads call one key. Redis counts the calls that run, each with its process, in the same
 * instant in which it is begun.
 */
final class SlotInstance implements AutoCloseable {
    /** Begins a call: counts it, and records the greatest number of calls that ran at once. A killed process runs no calls. */
    private static final String BEGIN = """
            redis.call('HINCRBY', KEYS[1] .. ':running', ARGV[1], 1)
            local killed, sum = redis.call('GET', KEYS[1] .. ':killed'), 0
            local all = redis.call('HGETALL', KEYS[1] .. ':running')
            for i = 1, #all, 2 do
              if all[i] ~= killed then
                sum = sum + tonumber(all[i + 1])
              end
            end
            if sum > tonumber(redis.call('GET', KEYS[1] .. ':most') or '0') then
              redis.call('SET', KEYS[1] .. ':most', sum)
            end
            redis.call('INCR', KEYS[1] .. ':begun')
            """;

    private static final String END = "redis.call('HINCRBY', KEYS[1] .. ':running', ARGV[1], -1)";

    private final ChildJvm jvm;
    private final String name;
    private final Path log;

    private SlotInstance(ChildJvm jvm, String name, Path log) {
        this.jvm = jvm;
        this.name = name;
        this.log = log;
    }

    static Charge charge(int calls, Duration timeout, String storedKey) {
        return new Charge(
                new PolicyLimits(SlotEngine.POLICY, List.of(Limit.concurrency(calls, timeout))), storedKey, 1);
    }

    /** Starts an instance, whose threads make as many calls each. */
    static SlotInstance started(
            Path folder, String name, String address, String namespace, int slots, int threads, long calls) {
        Path log = folder.resolve(name + ".log");
        return new SlotInstance(
                ChildJvm.withLog(
                        log,
                        SlotInstance.class,
                        address,
                        namespace,
                        name,
                        String.valueOf(slots),
                        String.valueOf(threads),
                        String.valueOf(calls)),
                name,
                log);
    }

    /** Kills the process, as a crash does. The calls of the process no longer count. */
    void kill(RedisConnection redis, String namespace) {
        redis.call("SET", counter(namespace) + ":killed", name);
        close();
    }

    /** Waits for the end of all calls. */
    void awaitEnd(Duration time) throws InterruptedException {
        if (!jvm.process().waitFor(time.toMillis(), TimeUnit.MILLISECONDS)
                || jvm.process().exitValue() != 0) {
            throw new AssertionError("the instance has not ended well: " + text());
        }
    }

    private String text() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String counter(String namespace) {
        return "slots:" + namespace;
    }

    @Override
    public void close() {
        jvm.close();
    }

    /**
     * Calls until all calls are made, or the process is killed.
     *
     * @param arguments address, namespace, name, slots, threads, and calls per thread
     */
    public static void main(String... arguments) throws Exception {
        RedissonClient client = ChildJvm.client(arguments[0]);
        RedissonBackend backend = new RedissonBackend(client, arguments[1], Duration.ofSeconds(20));
        FaultCalls.awaitDecision(backend);
        SlotEngine instance = SlotEngine.of(
                backend, Integer.parseInt(arguments[3]), KilledSlotsTest.TIMEOUT, Duration.ZERO, FailureMode.CLOSED);
        int threads = Integer.parseInt(arguments[4]);
        long calls = Long.parseLong(arguments[5]);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int thread = 0; thread < threads; thread++) {
            pool.execute(() -> {
                for (long call = 0; call < calls; call++) {
                    call(instance, client, arguments[1], arguments[2]);
                }
            });
        }
        pool.shutdown();
        if (!pool.awaitTermination(1, TimeUnit.HOURS)) {
            throw new AssertionError("calls still run");
        }
        instance.engine().stop();
        backend.close();
        client.shutdown();
    }

    private static void call(SlotEngine instance, RedissonClient client, String namespace, String name) {
        Decision decision = instance.limiter().acquire(SlotEngine.POLICY, "hot");
        if (decision instanceof Decision.Degraded degraded) {
            throw new AssertionError("Redis has not decided: " + degraded);
        }
        if (decision.allowed()) {
            count(client, BEGIN, namespace, name);
            count(client, END, namespace, name);
            instance.limiter().release(decision.receipt());
        }
    }

    private static void count(RedissonClient client, String script, String namespace, String name) {
        client.getScript(StringCodec.INSTANCE)
                .eval(RScript.Mode.READ_WRITE, script, RScript.ReturnType.VALUE, List.of(counter(namespace)), name);
    }
}
