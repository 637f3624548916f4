// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.RequestCharges;
import io.weir.ratelimit.core.engine.RequestState;
import io.weir.ratelimit.core.engine.Settlements;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The charges of a request.
 *
 * @param settlements settles charges
 * @param request returns the state of the request, empty if the thread serves none
 */
record CurrentCharges(Settlements settlements, Supplier<Optional<RequestState>> request) implements RequestCharges {
    @Override
    public void settle(String policy, long actualCost) {
        settlements.settle(state(), Objects.requireNonNull(policy, "policy"), actualCost);
    }

    @Override
    public CompletionStage<Void> settleAsync(String policy, long actualCost) {
        return settlements.settleAsync(state(), Objects.requireNonNull(policy, "policy"), actualCost);
    }

    @Override
    public RequestCharges capture() {
        Optional<RequestState> captured = Optional.of(state());
        return new CurrentCharges(settlements, () -> captured);
    }

    private RequestState state() {
        return request.get()
                .orElseThrow(() -> new IllegalStateException(
                        "no HTTP request is active on this thread: capture the charges on the thread of the request"));
    }
}
