// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The local backend with the operations and results of {@link SequentialBackend}. Its clock does not advance. */
class ConcurrentBackend {
    private static final PolicyLimits POLICY = Keys.policy("api", SequentialBackend.PERMITS, Duration.ofHours(1));

    private final LocalBackend backend = new LocalBackend(SequentialBackend.MAX_KEYS, () -> 0);
    private final Receipt receipt;

    /** The acquires of one key by the key and the cost, which calls repeat as those of the engine do. */
    private final List<List<Supplier<Decision>>> acquires = Stream.of(0, 1, 2)
            .map(key -> Stream.of(1, 2)
                    .map(cost -> backend.acquireOf(List.of(charge(key, cost))))
                    .toList())
            .toList();

    ConcurrentBackend() {
        Decision decision = backend.acquire(List.of(charge(0, 1), charge(1, 1)));
        receipt = ((Decision.Allowed) decision).receipt();
    }

    String acquire(int key, int cost) {
        return acquire(acquires.get(key).get(cost - 1));
    }

    String acquireOne(int key) {
        return acquire(key, 1);
    }

    String acquireOfFirstKey(int cost) {
        return acquire(0, cost);
    }

    void refundOfFirstKey(int cost) {
        refund(0, cost);
    }

    int peekAtFirstKey() {
        return peek(0);
    }

    String acquireBoth(int key) {
        return acquire(() -> backend.acquire(List.of(charge(key, 1), charge(SequentialBackend.next(key), 1))));
    }

    private static String acquire(Supplier<Decision> acquire) {
        try {
            Decision decision = acquire.get();
            return decision.quotas().stream()
                    .map(quota -> " " + quota.remaining())
                    .collect(Collectors.joining("", decision.allowed() ? "allowed" : "rejected", ""));
        } catch (BackendException e) {
            if (e.reason() != BackendException.Reason.FULL) {
                throw e;
            }
            return SequentialBackend.FULL;
        }
    }

    int peek(int key) {
        Quota quota = backend.peek(List.of(charge(key, 1))).get(0);
        return (int) quota.remaining();
    }

    void refundReceipt() {
        backend.refund(receipt).toCompletableFuture().join();
    }

    void refund(int key, int cost) {
        backend.refund(charge(key, cost)).toCompletableFuture().join();
    }

    void reset(int key) {
        backend.reset(List.of(POLICY), storedKey(key));
    }

    void block(int key) {
        Duration unused = backend.block(POLICY, storedKey(key), Duration.ofHours(1))
                .toCompletableFuture()
                .join();
    }

    void unblock(int key) {
        backend.unblock(POLICY, storedKey(key)).toCompletableFuture().join();
    }

    int size() {
        return backend.size();
    }

    private static Charge charge(int key, int cost) {
        return new Charge(POLICY, storedKey(key), cost);
    }

    private static String storedKey(int key) {
        return "k." + key;
    }
}
