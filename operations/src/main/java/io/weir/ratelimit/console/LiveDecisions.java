// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.operations.Operations;
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

/** A decision listener that counts decisions if the console is enabled. */
@ApplicationScoped
public class LiveDecisions implements DecisionListener {
    private final Supplier<Operations> operations;

    /** Listeners are created before the deployment ends, and the access settings are available only then. */
    private volatile boolean initialized;

    private volatile @Nullable LiveRates rates;

    /** Creates a listener with operations that have the access settings after the deployment; for the container only. */
    @Inject
    public LiveDecisions(Instance<Operations> operations) {
        this((Supplier<Operations>) operations::get);
    }

    /** Creates a proxy; for the container only. */
    protected LiveDecisions() {
        this(() -> {
            throw new IllegalStateException("a proxy has no operations");
        });
    }

    LiveDecisions(Supplier<Operations> operations) {
        this.operations = operations;
    }

    @Override
    public void onDecision(DecisionEvent event) {
        LiveRates enabled = ratesIfEnabled();
        if (enabled != null) {
            enabled.decided(event);
        }
    }

    @Override
    public void onBypass(String endpoint, List<PolicyLimits> policies) {
        LiveRates enabled = ratesIfEnabled();
        if (enabled != null) {
            enabled.bypassed(policies);
        }
    }

    /** Returns the counted decisions; empty if the console is disabled. */
    Optional<LiveRates> rates() {
        return Optional.ofNullable(ratesIfEnabled());
    }

    private @Nullable LiveRates ratesIfEnabled() {
        if (!initialized) {
            initialize();
        }
        return rates;
    }

    private synchronized void initialize() {
        if (!initialized) {
            Operations known = operations.get();
            rates = known.access().enabled() ? new LiveRates(System::nanoTime, known.blocks()::met) : null;
            initialized = true;
        }
    }
}
