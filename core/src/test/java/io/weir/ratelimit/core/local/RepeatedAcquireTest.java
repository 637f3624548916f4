// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;

/** The contract of a backend whose callers repeat one acquire of the same charges, as those of the engine do. */
@Tag("ci")
final class RepeatedAcquireTest extends RateLimitBackendContract {
    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new RepeatingBackend(new LocalBackend(100_000, time));
    }

    /** Not a record, because tests use the backend as a part of the keys of a map. */
    private static final class RepeatingBackend implements RateLimitBackend {
        private final LocalBackend local;
        private final Map<List<Charge>, Supplier<Decision>> acquires = new ConcurrentHashMap<>();

        private RepeatingBackend(LocalBackend local) {
            this.local = local;
        }

        @Override
        public String name() {
            return local.name();
        }

        @Override
        public boolean isConfigured() {
            return local.isConfigured();
        }

        @Override
        public boolean supports(Limit limit) {
            return local.supports(limit);
        }

        @Override
        public <C> Optional<C> capability(Class<C> type) {
            return local.capability(type);
        }

        @Override
        public Decision acquire(List<Charge> charges) {
            return acquires.computeIfAbsent(charges, local::acquireOf).get();
        }

        @Override
        public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
            return CompletableFuture.completedStage(acquire(charges));
        }

        @Override
        public List<Quota> peek(List<Charge> charges) {
            return local.peek(charges);
        }

        @Override
        public CompletionStage<Void> refund(Receipt receipt) {
            return local.refund(receipt);
        }

        @Override
        public CompletionStage<Void> refund(Charge charge) {
            return local.refund(charge);
        }

        @Override
        public void reset(List<PolicyLimits> limits, String storedKey) {
            local.reset(limits, storedKey);
        }
    }
}
