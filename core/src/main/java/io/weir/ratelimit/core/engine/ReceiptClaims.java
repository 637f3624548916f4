// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.request.EdgeReceipt;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The claims of receipts of the edge at the backend, each of which succeeds once over all instances. */
final class ReceiptClaims {
    private ReceiptClaims() {}

    /** Claims a receipt. Returns null if the backend fails, because another request can have claimed it. */
    static @Nullable Decision claim(FallbackBackend backend, List<Charge> claim) {
        try {
            return backend.call(known -> known.acquire(claim));
        } catch (RateLimitUnavailableException e) {
            return null;
        }
    }

    /** Claims a receipt without blocking the thread. */
    static CompletionStage<Optional<Decision>> claimAsync(FallbackBackend backend, List<Charge> claim) {
        return backend.callAsync(known -> known.acquireAsync(claim))
                .handle((decision, failure) -> Optional.ofNullable(decision));
    }

    /** Claims the receipt of a request whose charges under a policy are to be settled, if no call has done it. */
    static void claim(FallbackBackend backend, RequestState request, String policy) {
        List<Charge> claim = begin(request, policy);
        if (!claim.isEmpty()) {
            request.claimed(claim(backend, claim));
        }
    }

    /** Claims as {@link #claim(FallbackBackend, RequestState, String)}, without blocking the thread. */
    static CompletionStage<?> claimAsync(FallbackBackend backend, RequestState request, String policy) {
        List<Charge> claim = begin(request, policy);
        return claim.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : claimAsync(backend, claim).thenAccept(decision -> request.claimed(decision.orElse(null)));
    }

    private static List<Charge> begin(RequestState request, String policy) {
        EdgeReceipt receipt = request.receipt();
        return receipt == null ? List.of() : receipt.begin(policy);
    }
}
