// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.RequestCharges;
import io.weir.ratelimit.core.request.RequestState;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The charges of the request that the thread serves, if any. */
public record CurrentCharges(
        Settlements settlements, Predicate<String> isPolicy, Supplier<Optional<RequestState>> request)
        implements RequestCharges {
    @Override
    public void settle(String policy, long actualCost) {
        RequestState state = state();
        settlements.settle(state, checked(policy, state), actualCost);
    }

    @Override
    public CompletionStage<Void> settleAsync(String policy, long actualCost) {
        RequestState state = state();
        return settlements.settleAsync(state, checked(policy, state), actualCost);
    }

    @Override
    public RequestCharges capture() {
        Optional<RequestState> captured = Optional.of(state());
        return new CurrentCharges(settlements, isPolicy, () -> captured);
    }

    /** Returns a policy that exists, or that the request has paid under before a reload has removed it. */
    private String checked(String policy, RequestState state) {
        if (!isPolicy.test(Objects.requireNonNull(policy, "policy")) && !settlements.hasPaid(state, policy)) {
            throw new IllegalArgumentException("there is no policy \"" + policy + "\"");
        }
        return policy;
    }

    private RequestState state() {
        return request.get()
                .orElseThrow(() -> new IllegalStateException(
                        "no HTTP request is active on this thread: capture the charges on the thread of the request"));
    }
}
