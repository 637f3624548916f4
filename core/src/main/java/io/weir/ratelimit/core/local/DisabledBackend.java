// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.QuotaCalculator;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.Penalty;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** The backend if limits are disabled: it allows every call and counts nothing. */
public final class DisabledBackend implements RateLimitBackend {
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
    public List<Quota> peek(Charge charge) {
        List<Quota> quotas = new ArrayList<>();
        for (Limit limit : charge.policy().limits()) {
            quotas.add(QuotaCalculator.quota(charge, quotas.size(), LimitState.untouched(limit, 0), false, 0));
        }
        return quotas;
    }

    @Override
    public void refund(Receipt receipt) {
        // nothing was spent
    }

    @Override
    public List<Charge> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return List.of();
    }

    @Override
    public void refund(Charge charge) {
        // nothing was spent
    }

    @Override
    public void reset(PolicyLimits policy, String storedKey) {
        // nothing is kept
    }

    @Override
    public Duration block(PolicyLimits policy, String storedKey, Duration duration) {
        return duration;
    }

    @Override
    public CompletionStage<Optional<Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        return CompletableFuture.completedStage(Optional.empty());
    }

    @Override
    public void unblock(PolicyLimits policy, String storedKey) {
        // nothing is blocked
    }
}
