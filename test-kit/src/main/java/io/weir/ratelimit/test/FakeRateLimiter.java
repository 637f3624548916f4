// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.TopKeys;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A limiter without an engine, whose decisions a test states and whose calls it records. It has all policies, and counts nothing.
 *
 * <p>Thread-safe.
 */
public final class FakeRateLimiter implements RateLimiter {
    /**
     * A recorded call.
     *
     * @param operation the operation
     * @param policy the name of the policy; empty for an operation on a receipt
     * @param key the key; {@link Identity#GLOBAL} for an operation on a receipt or on the current request
     * @param cost the permits: the cost of an acquisition, the refunded or the actual cost; 1 if the call states none
     */
    public record Call(Operation operation, String policy, Identity key, long cost) {}

    /** An operation of a limiter. */
    public enum Operation {
        /** An acquisition, asynchronous or not. */
        ACQUIRE,
        /** A look at the quotas. */
        PEEK,
        /** A refund. */
        REFUND,
        /** A settlement. */
        SETTLE,
        /** A reset. */
        RESET
    }

    private final Function<String, Decision> decisions;
    private final List<Call> calls = new ArrayList<>();

    private FakeRateLimiter(Function<String, Decision> decisions) {
        this.decisions = decisions;
    }

    /**
     * Creates a limiter that allows each call.
     *
     * @return the limiter
     */
    public static FakeRateLimiter allowAll() {
        return new FakeRateLimiter(policy -> Decisions.allowed());
    }

    /**
     * Creates a limiter that rejects each call by the policy of the call.
     *
     * @param retryAfter the time after which a retry is allowed, more than zero
     * @return the limiter
     */
    public static FakeRateLimiter rejectAll(Duration retryAfter) {
        return new FakeRateLimiter(policy -> Decisions.rejectedBy(policy, retryAfter));
    }

    /**
     * Creates a limiter that returns decisions in order, and repeats the last one.
     *
     * @param first the first decision
     * @param next the next decisions
     * @return the limiter
     */
    public static FakeRateLimiter script(Decision first, Decision... next) {
        Deque<Decision> left = new ArrayDeque<>(List.of(next));
        left.addFirst(first);
        return new FakeRateLimiter(policy -> left.size() > 1 ? left.removeFirst() : left.getFirst());
    }

    /**
     * Lists the calls so far.
     *
     * @return the calls in order
     */
    public synchronized List<Call> calls() {
        return List.copyOf(calls);
    }

    /**
     * Lists the acquisitions so far.
     *
     * @return the calls in order
     */
    public List<Call> acquisitions() {
        return calls().stream()
                .filter(call -> call.operation == Operation.ACQUIRE)
                .toList();
    }

    private synchronized void record(Operation operation, String policy, Identity key, long cost) {
        calls.add(new Call(operation, policy, key, cost));
    }

    private synchronized Decision decide(String policy, Identity key, long cost) {
        if (cost < 1) {
            throw new IllegalArgumentException("the cost must be at least 1");
        }
        record(Operation.ACQUIRE, policy, key, cost);
        return decisions.apply(policy);
    }

    @Override
    public Decision acquire(String policy, Identity key) {
        return decide(policy, key, 1);
    }

    @Override
    public Decision acquire(String policy, Identity key, long cost) {
        return decide(policy, key, cost);
    }

    @Override
    public CompletionStage<Decision> acquireAsync(String policy, Identity key) {
        return CompletableFuture.completedStage(decide(policy, key, 1));
    }

    @Override
    public CompletionStage<Decision> acquireAsync(String policy, Identity key, long cost) {
        return CompletableFuture.completedStage(decide(policy, key, cost));
    }

    /** Returns no quotas, because this limiter counts nothing. */
    @Override
    public List<Quota> peek(String policy, Identity key) {
        record(Operation.PEEK, policy, key, 1);
        return List.of();
    }

    /** Returns no quotas, because this limiter counts nothing. */
    @Override
    public List<Quota> peek(String policy) {
        record(Operation.PEEK, policy, Identity.GLOBAL, 1);
        return List.of();
    }

    @Override
    public void refund(Receipt receipt) {
        record(Operation.REFUND, "", Identity.GLOBAL, 1);
    }

    @Override
    public void refund(String policy, Identity key, long cost) {
        record(Operation.REFUND, policy, key, cost);
    }

    @Override
    public void settle(Receipt receipt, long actualCost) {
        record(Operation.SETTLE, "", Identity.GLOBAL, actualCost);
    }

    @Override
    public CompletionStage<Void> settleAsync(Receipt receipt, long actualCost) {
        settle(receipt, actualCost);
        return CompletableFuture.completedStage(null);
    }

    @Override
    public void reset(String policy, Identity key) {
        record(Operation.RESET, policy, key, 1);
    }

    /** Returns no keys, because this limiter counts nothing. */
    @Override
    public TopKeys topKeys(String policy) {
        return new TopKeys(List.of(), List.of(), List.of(), Duration.ZERO);
    }
}
