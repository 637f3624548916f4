// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The decisions about leases, and their settlements. No thread waits for them. */
final class QuotaLeases {
    /** A decision is tried with fewer permits this often, until the proxy gets what remains. */
    private static final int TRIES = 3;

    private final HostedWeir weir;

    QuotaLeases(HostedWeir weir) {
        this.weir = weir;
    }

    /** The decision about a number of requests. */
    record Granted(Decision decision, long requests) {}

    /** Charges a number of requests, or fewer if so many permits do not remain. */
    CompletionStage<Granted> decide(String endpoint, Selection.Selected selected, long requests) {
        return decide(endpoint, selected, requests, TRIES);
    }

    private CompletionStage<Granted> decide(String endpoint, Selection.Selected selected, long requests, int tries) {
        List<Binding.PolicyCost> costs = selected.policies().stream()
                .map(policy -> new Binding.PolicyCost(withoutPenalty(policy), cost(policy.cost(), requests)))
                .toList();
        return weir.engine()
                .decideAsync(endpoint, List.of(new RateLimitEngine.JointCall(costs, selected.call())), Runnable::run)
                .thenCompose(joint -> {
                    Decision decision = joint.decision();
                    long fewer = decision instanceof Decision.Rejected ? fewer(selected, decision, requests) : 0;
                    return fewer > 0 && tries > 1
                            ? decide(endpoint, selected, fewer, tries - 1)
                            : CompletableFuture.completedFuture(new Granted(decision, requests));
                });
    }

    /** A charge of the server itself is no request of the caller, so it does not count for a penalty. An example is a lease. */
    static Policy withoutPenalty(Policy policy) {
        return policy.penalty().isEmpty()
                ? policy
                : policy.toBuilder().penalty(Optional.empty()).build();
    }

    private static long cost(long ofRequest, long requests) {
        return requests > Limit.MAX_PERMITS / ofRequest ? Limit.MAX_PERMITS : requests * ofRequest;
    }

    /** Returns the requests for which permits remain after a rejection; another proxy can spend them meanwhile. */
    private static long fewer(Selection.Selected selected, Decision rejected, long requests) {
        long fewer = requests / 2;
        for (Quota quota : rejected.quotas()) {
            for (Policy policy : selected.policies()) {
                if (policy.name().equals(quota.policy())) {
                    fewer = Math.min(fewer, quota.blocked() ? 0 : quota.remaining() / policy.cost());
                }
            }
        }
        return fewer;
    }

    /** Replaces the costs of leases by those of their requests. A lease that cannot be settled stays charged. */
    CompletionStage<?> settle(List<QuotaBucket.Ended> leases) {
        return CompletableFuture.completedFuture(leases)
                .thenCompose(this::settleAll)
                .exceptionally(failure -> null);
    }

    private CompletionStage<@Nullable Void> settleAll(List<QuotaBucket.Ended> leases) {
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (QuotaBucket.Ended each : leases) {
            if (each.receipt() instanceof ChargeReceipt receipt) {
                for (Charge charge : receipt.charges()) {
                    all.add(weir.engine()
                            .settlements()
                            .settleAsync(
                                    receipt,
                                    charge.policy().policy(),
                                    cost(Math.max(1, charge.cost() / each.requests()), each.used()))
                            .toCompletableFuture());
                }
            }
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new));
    }

    /**
     * Returns the length of a lease, which ends with a fixed window. A charge of another limit is forgotten step by step, so its lease is
     * at most half as long as the window: in half a window, all proxies then use no more than a window has.
     */
    static long nanos(Selection.Selected selected, Decision decision, long longest) {
        Duration length = Duration.ofNanos(longest);
        for (Quota quota : decision.quotas()) {
            Duration counted = endsAtOnce(selected, quota)
                    ? quota.resetAfter()
                    : quota.window().dividedBy(2);
            length = counted.compareTo(length) < 0 ? counted : length;
        }
        return Math.max(1, length.toNanos());
    }

    private static boolean endsAtOnce(Selection.Selected selected, Quota quota) {
        return quota.kind() == Quota.Kind.CALENDAR
                || selected.policies().stream()
                        .filter(policy -> policy.name().equals(quota.policy()))
                        .flatMap(policy -> policy.limits().limits().stream())
                        .anyMatch(limit -> limit.uses(Algorithm.FIXED_WINDOW));
    }
}
