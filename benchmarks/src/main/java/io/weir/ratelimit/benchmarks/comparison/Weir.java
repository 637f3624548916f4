// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.redisson.RedissonBackend;
import io.weir.ratelimit.redisson.UncachedBackend;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.redisson.api.RedissonClient;

/** The Redis backend of Weir without the engine. */
final class Weir implements Contender {
    static final String POLICY = "standard";
    static final long LEASE = 100;

    private static final Duration CONNECTED = Duration.ofSeconds(20);

    /** Unspent permits of a lease are refunded after one second without a call. */
    private static final Duration REFUND_TIME = Duration.ofSeconds(2);

    private final String name;
    private final RedissonBackend backend;
    private final RedissonBackend reader;
    private final List<List<Charge>> charges;
    private final long createdAt = System.nanoTime();
    private final boolean isBucket;
    private final long lease;
    private final Duration firstReturn;

    private Weir(
            String name,
            RedissonBackend backend,
            RedissonBackend reader,
            Workload workload,
            Algorithm algorithm,
            long lease) {
        this.name = name;
        this.backend = backend;
        this.reader = reader;
        isBucket = algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
        this.lease = lease;
        firstReturn = workload.firstReturn();
        List<PolicyLimits> policies = policies(workload, algorithm).stream()
                .map(policy -> policy.withLease(lease))
                .toList();
        charges = IntStream.range(0, workload.keys())
                .mapToObj(key -> policies.stream()
                        .map(policy -> new Charge(policy, Workload.storedKey(key), 1))
                        .toList())
                .toList();
        Await.until("both backends are connected", CONNECTED, () -> answers(backend) && answers(reader));
    }

    /** Returns whether the backend is connected, without a new key in Redis. */
    private boolean answers(RedissonBackend connecting) {
        try {
            connecting.peek(charges.get(0));
            return true;
        } catch (BackendException e) {
            return false;
        }
    }

    /** Returns the policies of a decision. Their names have the same length. */
    private static List<PolicyLimits> policies(Workload workload, Algorithm algorithm) {
        List<Limit> limits = workload.limits(algorithm);
        if (!workload.policies()) {
            return List.of(new PolicyLimits(POLICY, limits));
        }
        return IntStream.range(0, limits.size())
                .mapToObj(i -> new PolicyLimits("policy-" + i, List.of(limits.get(i))))
                .toList();
    }

    static Weir of(RedissonClient client, String namespace, Workload workload, Algorithm algorithm, Duration deadline) {
        return new Weir(
                "Weir, " + algorithm.configName(),
                new RedissonBackend(client, namespace, deadline),
                reader(client, namespace),
                workload,
                algorithm,
                0);
    }

    /** Creates a contender on a client that hides its connections, so that each call to a cluster has a write of its own. */
    static Weir writePerCall(
            RedissonClient client, String namespace, Workload workload, Algorithm algorithm, Duration deadline) {
        RedissonClient hiding = (RedissonClient) Proxy.newProxyInstance(
                Weir.class.getClassLoader(),
                new Class<?>[] {RedissonClient.class},
                (proxy, method, arguments) -> method.invoke(client, arguments));
        return new Weir(
                "Weir, a write per call, " + algorithm.configName(),
                new RedissonBackend(hiding, namespace, deadline),
                reader(client, namespace),
                workload,
                algorithm,
                0);
    }

    /** Creates a contender with leases. */
    static Weir leasing(
            RedissonClient client, String namespace, Workload workload, Algorithm algorithm, Duration deadline) {
        return new Weir(
                "Weir, leases of " + LEASE + ", " + algorithm.configName(),
                new RedissonBackend(client, namespace, deadline),
                reader(client, namespace),
                workload,
                algorithm,
                LEASE);
    }

    /** Creates a contender without the rejection cache. */
    static Weir uncached(
            RedissonClient client, String namespace, Workload workload, Algorithm algorithm, Duration deadline) {
        return new Weir(
                "Weir, no rejection cache, " + algorithm.configName(),
                UncachedBackend.on(client, namespace, deadline),
                reader(client, namespace),
                workload,
                algorithm,
                0);
    }

    /** Creates a backend that reads the spent permits. A failed reading would end the run. */
    private static RedissonBackend reader(RedissonClient client, String namespace) {
        return new RedissonBackend(client, namespace, Duration.ofSeconds(10));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean holdsPermits() {
        return lease > 0;
    }

    @Override
    public Object decide(int key) {
        return backend.acquire(charges.get(key));
    }

    @Override
    public CompletionStage<?> decideAsync(int key) {
        return backend.acquireAsync(charges.get(key));
    }

    @Override
    public boolean allowed(Object result) {
        return result instanceof Decision.Allowed;
    }

    /** Returns the spent permits; empty if permits have returned to a bucket since the start. */
    @Override
    public OptionalLong spent() {
        if (lease > 0) {
            awaitRefund();
        }
        boolean returned = isBucket && System.nanoTime() - createdAt > firstReturn.toNanos();
        return returned ? OptionalLong.empty() : OptionalLong.of(onlyValue(spentPerLimit()));
    }

    private long[] spentPerLimit() {
        long[] spent = new long
                [charges.get(0).stream()
                        .mapToInt(charge -> charge.policy().limits().size())
                        .sum()];
        for (List<Charge> decision : charges) {
            int i = 0;
            for (Charge charge : decision) {
                for (Quota quota : reader.peek(List.of(charge))) {
                    spent[i] += quota.capacity() - quota.remaining();
                    i++;
                }
            }
        }
        return spent;
    }

    private static void awaitRefund() {
        try {
            Thread.sleep(REFUND_TIME.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long onlyValue(long[] spent) {
        for (long other : spent) {
            if (other != spent[0]) {
                throw new IllegalStateException(
                        "the limits of a decision have different spent permits: " + Arrays.toString(spent));
            }
        }
        return spent[0];
    }

    @Override
    public void close() {
        backend.close();
        reader.close();
    }
}
