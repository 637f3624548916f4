// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.SettlesCharges;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** The backend if limits are disabled: it allows every call and counts nothing. */
public final class DisabledBackend implements RateLimitBackend, SettlesCharges, HoldsSlots, BlocksKeys {
    @Override
    public String name() {
        return "off";
    }

    @Override
    public boolean isConfigured() {
        return false;
    }

    @Override
    public boolean supports(Limit limit) {
        return true;
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        return Decision.Allowed.UNLIMITED;
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return CompletableFuture.completedStage(Decision.Allowed.UNLIMITED);
    }

    @Override
    public List<Quota> peek(List<Charge> charges) {
        List<Quota> quotas = new ArrayList<>();
        for (Charge charge : charges) {
            List<Limit> limits = charge.policy().limits();
            for (int i = 0; i < limits.size(); i++) {
                quotas.add(LimitState.untouched(limits.get(i), 0).quota(charge, i, false, 0));
            }
        }
        return quotas;
    }

    @Override
    public CompletionStage<Void> refund(Receipt receipt) {
        return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<List<Charge>> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return CompletableFuture.completedStage(List.of());
    }

    @Override
    public CompletionStage<Boolean> release(Receipt receipt) {
        return CompletableFuture.completedStage(true);
    }

    @Override
    public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        return CompletableFuture.completedStage(List.of());
    }

    @Override
    public CompletionStage<Void> refund(Charge charge) {
        return CompletableFuture.completedStage(null);
    }

    @Override
    public void reset(List<PolicyLimits> limits, String storedKey) {
        // nothing is kept
    }

    @Override
    public CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
        return CompletableFuture.completedStage(duration);
    }

    @Override
    public CompletionStage<Optional<BlocksKeys.Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        return CompletableFuture.completedStage(Optional.empty());
    }

    @Override
    public CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
        return CompletableFuture.completedStage(null);
    }
}
