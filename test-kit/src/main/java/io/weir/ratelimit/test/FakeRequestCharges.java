// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RequestCharges;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The charges of a request without an engine, whose settlements a test reads. It has all policies, and needs no request.
 *
 * <p>Thread-safe.
 */
public final class FakeRequestCharges implements RequestCharges {
    /**
     * A settlement.
     *
     * @param policy the name of the policy
     * @param actualCost the actual cost in permits
     */
    public record Settlement(String policy, long actualCost) {}

    private final List<Settlement> settlements = new ArrayList<>();

    /** Creates charges without a settlement. */
    public FakeRequestCharges() {}

    /**
     * Lists the settlements so far.
     *
     * @return the settlements in order
     */
    public synchronized List<Settlement> settlements() {
        return List.copyOf(settlements);
    }

    @Override
    public synchronized void settle(String policy, long actualCost) {
        if (actualCost < 0) {
            throw new IllegalArgumentException("the actual cost must be at least 0");
        }
        settlements.add(new Settlement(policy, actualCost));
    }

    @Override
    public CompletionStage<Void> settleAsync(String policy, long actualCost) {
        settle(policy, actualCost);
        return CompletableFuture.completedStage(null);
    }

    /** Returns these charges. */
    @Override
    public RequestCharges capture() {
        return this;
    }
}
