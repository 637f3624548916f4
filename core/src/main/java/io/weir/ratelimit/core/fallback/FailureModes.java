// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.slots.DegradedReceipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The decisions without the backend, by the strictest failure mode among the policies of the charges. Policies in shadow mode and
 * policies that the request has already paid have no effect.
 */
public final class FailureModes {
    private static final List<FailureMode> STRICTEST_FIRST =
            List.of(FailureMode.CLOSED, FailureMode.LOCAL, FailureMode.SAMPLE);

    private static final long MAX_JITTER_MILLIS = 30_000;

    private final IntSupplier instances;
    private final Supplier<RateLimitBackend> localBackend;
    private final IntUnaryOperator random;

    /** Kept after an outage, because the next outage must not reset the limits in process. */
    private volatile @Nullable RateLimitBackend local;

    /** The charges in process by their decision, as long as the decision is reachable and can be settled. */
    private final Cache<Decision, LocalCharges> localCharges =
            Caffeine.newBuilder().weakKeys().executor(Runnable::run).build();

    private record LocalCharges(BackendReceipt receipt, List<Charge> charges) {}

    /** Creates failure modes with the default source of random numbers. */
    public FailureModes(IntSupplier instances, Supplier<RateLimitBackend> localBackend) {
        this(instances, localBackend, bound -> ThreadLocalRandom.current().nextInt(bound));
    }

    /**
     * Creates failure modes with a source of random numbers.
     *
     * @param instances returns the number of instances of the application, 1 or more; called for each decision that needs it
     * @param localBackend creates the backend in process; called once, when it is first needed
     * @param random returns a number from 0 to below its argument
     */
    public FailureModes(IntSupplier instances, Supplier<RateLimitBackend> localBackend, IntUnaryOperator random) {
        this.instances = instances;
        this.localBackend = localBackend;
        this.random = random;
    }

    /** Decides charges that the backend failed to decide. */
    Decision.Degraded decide(Binding binding, List<Charge> charges, BackendException failure) {
        String reason = failure.reason().tag();
        FailureMode mode = strictest(binding, charges);
        return switch (mode) {
            case OPEN -> new Decision.Degraded(mode, true, reason);
            case CLOSED -> new Decision.Degraded(mode, false, reason, retryAfter(failure));
            case SAMPLE -> new Decision.Degraded(mode, random.applyAsInt(instances.getAsInt()) == 0, reason);
            case LOCAL -> decideLocally(binding, charges, reason);
        };
    }

    /**
     * Returns the time after which a retry can succeed, with up to half of it and at most 30 s added at random, because otherwise
     * all clients come back when the backend is called again. Zero if the time is unknown.
     */
    Duration retryAfter(BackendException failure) {
        Duration wait = failure.retryAfter();
        int jitterMillis = (int) Math.min(MAX_JITTER_MILLIS, wait.toMillis() / 2);
        return jitterMillis <= 0 ? wait : wait.plusMillis(random.applyAsInt(jitterMillis + 1));
    }

    /** Returns whether the charges are allowed while the backend does not decide. */
    static boolean isOpen(Binding binding, List<Charge> charges) {
        for (Charge charge : charges) {
            if (!charge.shadow() && binding.onFailure(charge.policy().policy()) != FailureMode.OPEN) {
                return false;
            }
        }
        return true;
    }

    private static FailureMode strictest(Binding binding, List<Charge> charges) {
        Set<FailureMode> modes = EnumSet.noneOf(FailureMode.class);
        charges.stream()
                .filter(charge -> !charge.shadow())
                .forEach(charge -> modes.add(binding.onFailure(charge.policy().policy())));
        return STRICTEST_FIRST.stream().filter(modes::contains).findFirst().orElse(FailureMode.OPEN);
    }

    /** Decides in process. A policy with the mode {@code open} is not counted, even if another policy has the mode {@code local}. */
    private Decision.Degraded decideLocally(Binding binding, List<Charge> charges, String reason) {
        InstanceShare share = new InstanceShare(instances.getAsInt());
        List<Charge> shares = charges.stream()
                .filter(charge ->
                        !charge.shadow() && binding.onFailure(charge.policy().policy()) != FailureMode.OPEN)
                .map(share::of)
                .toList();
        Decision decision;
        try {
            decision = local().acquire(shares);
        } catch (BackendException e) { // a flood of new keys must not be unlimited
            return new Decision.Degraded(FailureMode.LOCAL, false, e.reason().tag());
        }
        if (decision instanceof Decision.Rejected rejected) {
            Duration retryAfter = rejected.retryAfter().orElse(Duration.ZERO);
            return new Decision.Degraded(FailureMode.LOCAL, false, reason, retryAfter);
        }
        Receipt slots = decision.receipt() instanceof BackendReceipt receipt && receipt.holdsSlots()
                ? new DegradedReceipt(receipt)
                : Receipt.EMPTY;
        Decision.Degraded degraded = new Decision.Degraded(FailureMode.LOCAL, true, reason, Duration.ZERO, slots);
        if (binding.countsOutcomes()
                && decision instanceof Decision.Allowed allowed
                && allowed.receipt() instanceof BackendReceipt receipt) {
            localCharges.put(degraded, new LocalCharges(receipt, charges));
        }
        return degraded;
    }

    /** Releases a slot in process. Completes with whether the receipt had it. */
    CompletionStage<Boolean> release(DegradedReceipt receipt) {
        return FallbackBackend.require(local(), HoldsSlots.class).release(receipt.local());
    }

    /** Renews slots in process. The backend in process does not fail. */
    void renew(List<DegradedReceipt> receipts) {
        if (!receipts.isEmpty()) {
            CompletionStage<List<Receipt>> renewed = FallbackBackend.require(local(), HoldsSlots.class)
                    .renew(receipts.stream()
                            .<Receipt>map(DegradedReceipt::local)
                            .toList());
            renewed.exceptionally(failure -> List.of());
        }
    }

    private RateLimitBackend local() {
        RateLimitBackend known = local;
        if (known == null) {
            synchronized (this) {
                known = local;
                if (known == null) {
                    known = localBackend.get();
                    local = known;
                }
            }
        }
        return known;
    }

    /** Refunds the charges in process whose policies do not count the outcome of the call. */
    List<Charge> settle(Binding binding, Decision decision, boolean succeeded) {
        LocalCharges found = localCharges.getIfPresent(decision);
        if (found == null) {
            return List.of();
        }
        BackendReceipt uncounted =
                found.receipt.split(charge -> !binding.counts(charge.policy().policy(), succeeded));
        List<String> policies = uncounted.charges().stream()
                .map(charge -> charge.policy().policy())
                .toList();
        CompletionStage<Void> refunded = local().refund(uncounted);
        refunded.exceptionally(failure -> null);
        return found.charges.stream()
                .filter(charge ->
                        !charge.shadow() && policies.contains(charge.policy().policy()))
                .toList();
    }
}
