// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import io.weir.ratelimit.spi.Penalty;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/**
 * A backend that splits a receipt and refunds each charge separately and asynchronously, and then refunds the empty rest.
 *
 * @param backend the backend under test
 */
record SplitRefundBackend(RateLimitBackend backend) implements RateLimitBackend {
    @Override
    public String name() {
        return backend.name();
    }

    @Override
    public boolean isConfigured() {
        return backend.isConfigured();
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        return backend.acquire(charges);
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return backend.acquireAsync(charges);
    }

    @Override
    public List<Quota> peek(Charge charge) {
        return backend.peek(charge);
    }

    @Override
    public void refund(Receipt receipt) {
        if (receipt instanceof ChargeReceipt whole) {
            for (Charge charge : whole.charges()) {
                refundAsynchronously(whole.split(charge::equals));
            }
        }
        refundAsynchronously(receipt);
    }

    private void refundAsynchronously(Receipt receipt) {
        backend.refundAsync(receipt).toCompletableFuture().join();
    }

    @Override
    public List<Charge> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return backend.settle(receipt, selection, actualCost);
    }

    @Override
    public void refund(Charge charge) {
        backend.refund(charge);
    }

    @Override
    public void reset(PolicyLimits policy, String storedKey) {
        backend.reset(policy, storedKey);
    }

    @Override
    public Duration block(PolicyLimits policy, String storedKey, Duration duration) {
        return backend.block(policy, storedKey, duration);
    }

    @Override
    public CompletionStage<Optional<Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        return backend.countRejections(policy, storedKey, rejections, rule);
    }

    @Override
    public void unblock(PolicyLimits policy, String storedKey) {
        backend.unblock(policy, storedKey);
    }
}
