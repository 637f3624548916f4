// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides where the store does not, by the strictest failure mode of the policies that the call is to be charged under. A policy
 * in shadow mode, or one under which the request has paid already, has no say.
 */
public final class Fallback {
    private static final List<FailureMode> STRICTEST_FIRST =
            List.of(FailureMode.CLOSED, FailureMode.LOCAL, FailureMode.SAMPLE);

    private final int instances;
    private final Share share;
    private final Supplier<RateLimitBackend> localStore;
    private final IntUnaryOperator random;

    /** Kept over outages: a store that comes and goes must not hand out fresh allowances. */
    private volatile @Nullable RateLimitBackend local;

    /** What was charged here, for as long as somebody knows of the decision and could ask to give it back. */
    private final Cache<Decision, Charged> charged =
            Caffeine.newBuilder().weakKeys().executor(Runnable::run).build();

    private record Charged(BackendReceipt receipt, List<Charge> charges) {}

    /**
     * Decisions without the store.
     *
     * @param instances how many instances of the application run, 1 or more
     * @param localStore makes the store in process; called at the first need, once
     */
    public Fallback(int instances, Supplier<RateLimitBackend> localStore) {
        this(instances, localStore, bound -> ThreadLocalRandom.current().nextInt(bound));
    }

    /** With a source of random numbers from 0 to below its argument. */
    Fallback(int instances, Supplier<RateLimitBackend> localStore, IntUnaryOperator random) {
        this.instances = instances;
        this.share = new Share(instances);
        this.localStore = localStore;
        this.random = random;
    }

    /** Decides about charges that the store failed to decide about. */
    Decision.Degraded decide(Binding binding, List<Charge> charges, BackendException failure) {
        String reason = failure.reason().tag();
        FailureMode mode = strictest(binding, charges);
        return switch (mode) {
            case OPEN -> new Decision.Degraded(mode, true, reason);
            case CLOSED -> new Decision.Degraded(mode, false, reason, failure.retryAfter());
            case SAMPLE -> new Decision.Degraded(mode, random.applyAsInt(instances) == 0, reason);
            case LOCAL -> counted(binding, charges, reason);
        };
    }

    private static FailureMode strictest(Binding binding, List<Charge> charges) {
        Set<FailureMode> modes = EnumSet.noneOf(FailureMode.class);
        charges.stream()
                .filter(charge -> !charge.shadow())
                .forEach(charge -> modes.add(binding.onFailure(charge.policy().policy())));
        return STRICTEST_FIRST.stream().filter(modes::contains).findFirst().orElse(FailureMode.OPEN);
    }

    /** What one policy says makes no limit out of another one that says {@code open}. */
    private Decision.Degraded counted(Binding binding, List<Charge> charges, String reason) {
        List<Charge> shares = charges.stream()
                .filter(charge ->
                        !charge.shadow() && binding.onFailure(charge.policy().policy()) != FailureMode.OPEN)
                .map(share::of)
                .toList();
        Decision decision;
        try {
            decision = local().acquire(shares);
        } catch (BackendException e) { // a flood of new keys must not be without a limit
            return new Decision.Degraded(FailureMode.LOCAL, false, e.reason().tag());
        }
        if (decision instanceof Decision.Rejected rejected) {
            Duration wait = rejected.retryAfter().orElse(Duration.ZERO);
            return new Decision.Degraded(FailureMode.LOCAL, false, reason, wait);
        }
        Decision.Degraded admitted = new Decision.Degraded(FailureMode.LOCAL, true, reason);
        if (binding.countsOutcomes()
                && decision instanceof Decision.Allowed allowed
                && allowed.receipt() instanceof BackendReceipt receipt) {
            charged.put(admitted, new Charged(receipt, charges));
        }
        return admitted;
    }

    private RateLimitBackend local() {
        RateLimitBackend made = local;
        if (made == null) {
            synchronized (this) {
                made = local;
                if (made == null) {
                    made = localStore.get();
                    local = made;
                }
            }
        }
        return made;
    }

    /**
     * Gives back what a decision of this was charged in process, under policies that do not count the call's outcome.
     *
     * @return the charges of the call that are given back
     */
    List<Charge> settle(Binding binding, Decision decision, boolean succeeded) {
        Charged found = charged.getIfPresent(decision);
        if (found == null) {
            return List.of();
        }
        BackendReceipt uncounted =
                found.receipt.part(charge -> !binding.counts(charge.policy().policy(), succeeded));
        List<String> policies = uncounted.charges().stream()
                .map(charge -> charge.policy().policy())
                .toList();
        local().giveBack(uncounted);
        return found.charges.stream()
                .filter(charge ->
                        !charge.shadow() && policies.contains(charge.policy().policy()))
                .toList();
    }
}
