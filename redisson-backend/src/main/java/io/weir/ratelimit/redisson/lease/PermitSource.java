// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Source of the permits of leases. */
public interface PermitSource {
    /** Acquires permits. Completes once it is known whether they were spent, however late. */
    CompletionStage<AcquireResult> acquire(Charge charge);

    /** Refunds permits that were not spent. Completes normally, even if the refund fails. */
    CompletableFuture<Void> refund(Refund refund);

    /** Tests whether the key of a charge is blocked. Completes with false if that is unknown. */
    default CompletionStage<Boolean> isBlocked(Charge charge) {
        return CompletableFuture.completedStage(false);
    }
}
