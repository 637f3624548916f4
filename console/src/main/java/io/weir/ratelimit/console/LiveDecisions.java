// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.interceptor.operate.Operations;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicyLimits;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Hears of decisions where there is a page to show them. */
@ApplicationScoped
public class LiveDecisions implements DecisionListener {
    private final Supplier<Operations> operations;

    /** Listeners are made before the deployment ends, which is when it is known whether there is a page. */
    private volatile boolean known;

    private volatile @Nullable LiveRates rates;

    /**
     * For the container only.
     *
     * @param operations knows whether there is a page, when asked after the deployment
     */
    @Inject
    public LiveDecisions(Instance<Operations> operations) {
        this((Supplier<Operations>) operations::get);
    }

    /** For the container's proxies, and for nothing else. */
    protected LiveDecisions() {
        this(() -> {
            throw new IllegalStateException("a proxy decides nothing");
        });
    }

    LiveDecisions(Supplier<Operations> operations) {
        this.operations = operations;
    }

    @Override
    public void onDecision(DecisionEvent event) {
        LiveRates counting = counting();
        if (counting != null) {
            counting.decided(event);
        }
    }

    @Override
    public void onBypass(String endpoint, List<PolicyLimits> policies) {
        LiveRates counting = counting();
        if (counting != null) {
            counting.bypassed(policies);
        }
    }

    /** What was counted; empty if there is no page. */
    Optional<LiveRates> counted() {
        return Optional.ofNullable(counting());
    }

    private @Nullable LiveRates counting() {
        if (!known) {
            find();
        }
        return rates;
    }

    private synchronized void find() {
        if (!known) {
            rates = operations.get().access().enabled() ? new LiveRates(System::nanoTime) : null;
            known = true;
        }
    }
}
