// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Operations on callers without an engine, whose calls a test reads. It has all policies and all callers, and counts nothing.
 *
 * <p>Thread-safe.
 */
public final class FakeCallerOperations implements CallerOperations {
    /**
     * A recorded call.
     *
     * @param operation {@code peek}, {@code reset}, {@code block} or {@code unblock}
     * @param policy the name of the policy
     * @param key the values, the key or the masked key by which the test has named the caller
     */
    public record Call(String operation, String policy, String key) {}

    private record NamedCaller(String policy, String key) implements Caller {}

    private final List<Quota> quotas;
    private final List<Call> calls = new ArrayList<>();

    /**
     * Creates operations.
     *
     * @param quotas the quotas of each caller
     */
    public FakeCallerOperations(Quota... quotas) {
        this.quotas = List.of(quotas);
    }

    /**
     * Lists the calls so far.
     *
     * @return the calls in order, without look-ups of callers
     */
    public synchronized List<Call> calls() {
        return List.copyOf(calls);
    }

    private synchronized void record(String operation, Caller caller) {
        calls.add(new Call(operation, caller.policy(), caller.key()));
    }

    @Override
    public Caller caller(String policy, int alternative, List<String> values) {
        return new NamedCaller(policy, String.join(" + ", values));
    }

    @Override
    public Caller caller(String policy, Identity key) {
        return new NamedCaller(policy, key.toString());
    }

    @Override
    public Caller callerByMaskedKey(String policy, String maskedKey) {
        return new NamedCaller(policy, maskedKey.strip());
    }

    @Override
    public List<Quota> peek(Caller caller, String tier) {
        record("peek", caller);
        return quotas;
    }

    @Override
    public void reset(Caller caller) {
        record("reset", caller);
    }

    @Override
    public Duration block(Caller caller, Duration duration) {
        record("block", caller);
        return duration;
    }

    @Override
    public void unblock(Caller caller) {
        record("unblock", caller);
    }
}
