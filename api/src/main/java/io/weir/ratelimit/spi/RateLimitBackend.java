// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A backend, which keeps the state of keys: one atomic check-and-spend over several limits, all or nothing.
 *
 * <p>A CDI bean of this type is available under its {@link #name()}; {@code ratelimit.backend} selects a backend by name. Every
 * implementation passes the backend contract of the module {@code weir-tck}.
 *
 * <p>This interface has the operations of every backend. An optional operation is a {@linkplain #capability capability}: {@link SettlesCharges},
 * {@link HoldsSlots}, {@link BlocksKeys} and {@link RemembersRejections}. A policy that needs a capability which its backend lacks is an
 * error of the configuration.
 *
 * <p>Implementations are thread-safe. An operation that fails throws a {@link BackendException}, or completes with one, within the
 * deadline of the backend. A stage completes on any thread.
 */
public interface RateLimitBackend {
    /**
     * Returns the name of this backend in {@code ratelimit.backend}.
     *
     * @return the name, such as {@code redisson}
     */
    String name();

    /**
     * Returns whether the application has configured this backend. {@code ratelimit.backend=auto} prefers a configured backend.
     *
     * @return true if it is configured
     */
    boolean isConfigured();

    /**
     * Validates the configuration of this backend. Called once at deployment before {@link #start}, only for the selected backend.
     *
     * @return the problems; empty if the configuration is valid
     */
    default List<ConfigurationProblem> validateConfiguration() {
        return List.of();
    }

    /**
     * Returns whether this backend can evaluate a limit. A policy with a limit that the backend does not support is an error of the
     * configuration. A limit that the backend receives later, from a {@link PolicySource}, fails with a {@link BackendException}.
     *
     * @param limit a limit
     * @return true if it can; by default, for each limit other than a {@linkplain Limit#concurrency concurrency limit}, which also needs
     *     the capability {@link HoldsSlots}
     */
    default boolean supports(Limit limit) {
        return !(limit instanceof ConcurrencyLimit);
    }

    /**
     * Returns a capability of this backend. The default is this backend if it implements the type. A backend that wraps another one
     * overrides this method, because it has only the capabilities of that backend.
     *
     * @param <C> the type of the capability
     * @param type {@link SettlesCharges}, {@link HoldsSlots}, {@link BlocksKeys} or {@link RemembersRejections}; a backend returns empty for
     *     a type that it does not know
     * @return the capability; empty if this backend does not have it
     */
    default <C> Optional<C> capability(Class<C> type) {
        return type.isInstance(this) ? Optional.of(type.cast(this)) : Optional.empty();
    }

    /**
     * Registers a listener for events of this backend. Called at most once and before {@link #start}, only for the selected backend. A
     * backend reports only the events that it has; one without batches reports no batches.
     *
     * @param listener the listener
     */
    default void registerListener(BackendListener listener) {}

    /**
     * Returns the status of this backend without calling a server.
     *
     * @return the status
     */
    default Status status() {
        return Status.READY;
    }

    /**
     * Starts to connect and returns without waiting for the connection, so that an unavailable server does not fail the deployment.
     * Called once, only for the selected backend and only if its configuration is valid.
     */
    default void start() {}

    /**
     * Evaluates every limit of every enforced charge at one instant. Spends the permits of all these charges if all limits have enough
     * permits, otherwise writes nothing.
     *
     * <p><b>Shadow charges.</b> {@linkplain Charge#shadow() Shadow charges} have no effect on the decision, and a call with only shadow
     * charges is allowed. If the call is rejected, no shadow charge is evaluated. If the call is allowed, each shadow charge spends its
     * permits if all limits of its policy have enough permits, independently of the other shadow charges. It is evaluated at the instant of
     * the decision or right after it. If the backend cannot evaluate a shadow charge, it omits all quotas of that charge. It fails only if
     * it can evaluate no charge of the call.
     *
     * <p><b>Waits.</b> A bucket allows a call whose permits return within {@link Charge#maxWaitMicros()}. Such a call is charged now, and
     * its caller waits. The backend itself never waits.
     *
     * @param charges one or more charges, each with a different pair of policy and stored key
     * @return {@link Decision.Allowed} with a receipt of the spent permits and the longest wait, or {@link Decision.Rejected}. Both have
     *     one result per charge, in the order of the charges. The quotas of a result are those of the limits of its policy, in order, or
     *     empty for a shadow charge that is not evaluated
     */
    Decision acquire(List<Charge> charges);

    /**
     * Acquires permits like {@link #acquire}, without blocking the thread.
     *
     * @param charges one or more charges, each with a different pair of policy and stored key
     * @return a stage that completes with the decision or a {@link BackendException}, on any thread
     */
    CompletionStage<Decision> acquireAsync(List<Charge> charges);

    /**
     * Returns the quotas of keys, each for a call with the cost and the wait of its charge. Writes nothing. A backend with a server reads
     * them by one call, or by one call per slot of a cluster.
     *
     * @param charges one or more charges, each with a different pair of policy and stored key
     * @return one quota per limit, in the order of the charges and of their limits
     */
    List<Quota> peek(List<Charge> charges);

    /**
     * Refunds the charges of a receipt, once, and only the permits that still count, without blocking the thread. A backend may bound the
     * number of pending refunds. A refund beyond the bound fails at once with {@link BackendException.Reason#FULL} and leaves the receipt
     * unused.
     *
     * @param receipt a receipt of this backend, or {@link Receipt#EMPTY}
     * @return a stage that completes after the refund, or with a {@link BackendException}
     */
    CompletionStage<Void> refund(Receipt receipt);

    /**
     * Refunds a cost that was spent at an unknown time, at most the permits that are spent, without blocking the thread.
     *
     * @param charge the policy, the stored key and the cost
     * @return a stage that completes after the refund, or with a {@link BackendException}
     */
    CompletionStage<Void> refund(Charge charge);

    /**
     * Deletes the state of a key under all limits of a policy, and ends its block like {@link BlocksKeys#unblock}.
     *
     * @param limits the limits of one policy that can apply to the key, one or more: those of the policy itself and of its tiers
     * @param storedKey the stored key
     */
    void reset(List<PolicyLimits> limits, String storedKey);

    /**
     * The status of a backend, as information for operators.
     *
     * @param initialized whether the backend has been ready to decide at least once; a later loss of the connection does not change it
     * @param breakerOpen whether the breaker is open, so that the backend is not called
     * @param probeAfter the time until the backend behind an open breaker is probed. It is zero if the probe is due, or if the breaker is
     *     closed
     * @param leases the number of keys for which this instance holds a lease, 0 or more
     */
    record Status(boolean initialized, boolean breakerOpen, Duration probeAfter, int leases) {
        /** The status of a backend that is ready and has no breaker. */
        public static final Status READY = new Status(true, false, Duration.ZERO);

        /** Checks that the duration is not null, and that neither value is negative. */
        public Status {
            if (Objects.requireNonNull(probeAfter, "probeAfter").isNegative()) {
                throw new IllegalArgumentException("probeAfter must not be negative");
            }
            if (leases < 0) {
                throw new IllegalArgumentException("leases must not be negative");
            }
        }

        /**
         * Creates the status of a backend without leases.
         *
         * @param initialized whether the backend has been ready to decide at least once
         * @param breakerOpen whether the breaker is open
         * @param probeAfter the time until the backend behind an open breaker is probed
         */
        public Status(boolean initialized, boolean breakerOpen, Duration probeAfter) {
            this(initialized, breakerOpen, probeAfter, 0);
        }
    }
}
