// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A decision over several slots that is cancelled while it sends a request. */
class CrossSlotAcquireCancelTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofHours(1))));
    private static final BackendException CANCELLED = new BackendException(Reason.TIMEOUT, "cancelled", null);

    private final ManualSteps steps = new CancellingSteps();
    private final Charge one = new Charge(API, "k.a", 1);
    private final Charge other = new Charge(API, "k.b", 1);
    private final CrossSlotAcquire call = new CrossSlotAcquire(
            List.of(one, other),
            charge -> charge.storedKey().hashCode(),
            steps,
            Duration.ofMinutes(1).toNanos());

    /** Completes requests at once, and cancels the call while it sends the second request that spends. */
    private final class CancellingSteps extends ManualSteps {
        @Override
        public void send(AcquireRequest request) {
            super.send(request);
            if (request.operation == Operation.PEEK || spending().size() == 1) {
                complete(request.charges.get(0).storedKey(), 0);
            } else {
                call.cancel(CANCELLED);
            }
        }

        @Override
        public void cancel(AcquireRequest request) {
            super.cancel(request);
            request.completeExceptionally(CANCELLED);
        }
    }

    @Test
    void cancelsTheRequestThatIsBeingSentAndRefundsTheOther() {
        assertThat(call.start().completion()).isCompletedExceptionally();
        assertThat(steps.cancelled).hasSize(1);
        assertThat(steps.refunded).containsExactly(one);
    }
}
