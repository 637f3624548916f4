// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The {@linkplain RefundContract refund contract} for receipts that are split: each charge of a receipt is refunded separately and
 * asynchronously.
 */
public abstract class PartialRefundContract extends BackendFixture implements RefundContract {
    @Override
    final RateLimitBackend decorated(RateLimitBackend backend) {
        return new SplitRefunds(backend);
    }

    /**
     * A backend that splits a receipt and refunds each charge separately, and then refunds the empty rest.
     *
     * @param backend the backend under test
     */
    private record SplitRefunds(RateLimitBackend backend) implements RateLimitBackend {
        @Override
        public String name() {
            return backend.name();
        }

        @Override
        public boolean isConfigured() {
            return backend.isConfigured();
        }

        @Override
        public boolean supports(Limit limit) {
            return backend.supports(limit);
        }

        @Override
        public <C> Optional<C> capability(Class<C> type) {
            return backend.capability(type);
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
        public List<Quota> peek(List<Charge> charges) {
            return backend.peek(charges);
        }

        @Override
        public CompletionStage<Void> refund(Receipt receipt) {
            CompletionStage<Void> refunded = CompletableFuture.completedStage(null);
            if (receipt instanceof ChargeReceipt whole) {
                for (Charge charge : whole.charges()) {
                    refunded = refunded.thenCompose(done -> backend.refund(whole.split(charge::equals)));
                }
            }
            return refunded.thenCompose(done -> backend.refund(receipt));
        }

        @Override
        public CompletionStage<Void> refund(Charge charge) {
            return backend.refund(charge);
        }

        @Override
        public void reset(List<PolicyLimits> limits, String storedKey) {
            backend.reset(limits, storedKey);
        }
    }
}
