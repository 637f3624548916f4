// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/**
 * A backend, which keeps the state of keys: one atomic check-and-spend over several limits, all or nothing.
 *
 * <p>A CDI bean of this type is available under its {@link #name()}; {@code ratelimit.backend} selects a backend by name. Every
 * implementation passes the backend contract of the module {@code weir-tck}.
 *
 * <p>Implementations are thread-safe. An operation that fails throws a {@link BackendException}, or completes with one, within the
 * deadline of the backend.
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
    default BackendStatus status() {
        return BackendStatus.READY;
    }

    /**
     * Returns the store for reports of instances. Called after {@link #start}, only for the selected backend.
     *
     * @return the store; empty if instances do not share this backend
     */
    default Optional<FleetStore> fleetStore() {
        return Optional.empty();
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
     *     one quota per limit of the enforced charges, in the order of the charges and of their limits. An allowed decision has those of
     *     the shadow charges separately
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
     * Returns the rejection of a call that this backend has failed to decide, if an earlier rejection still holds: no later than the end
     * that the backend has returned, and not after a refund, a reset or a change of the limits. It takes precedence over the failure modes.
     * Does not call a server and does not block.
     *
     * @param charges the charges of the call
     * @return the rejection, with one quota per limit of the enforced charges; empty if none is known
     */
    default Optional<Decision.Rejected> knownRejection(List<Charge> charges) {
        return Optional.empty();
    }

    /**
     * Decides a call with new keys for which {@link #acquire} has failed with {@link BackendException.Reason#FULL}, if the failure modes of
     * all its policies are {@code open}. New keys share approximate counts, which are never lower than the permits that a key has spent. A
     * key can therefore be rejected although it has permits. Charges of new keys are not refunded, and shadow charges are left out. Does
     * not call a server and does not block.
     *
     * @param charges the charges of the call
     * @return the decision; empty if this backend has no approximate counts for them, so that the failure modes decide
     */
    default Optional<Decision> acquireApproximately(List<Charge> charges) {
        return Optional.empty();
    }

    /**
     * Returns the quotas of a key for a call with the cost and the wait of a charge. Writes nothing.
     *
     * @param charge the policy, the stored key, the cost and the wait
     * @return one quota per limit
     */
    List<Quota> peek(Charge charge);

    /**
     * Returns the quotas of several keys like {@link #peek(Charge)}. A backend with a server reads them by one call, or by one call per slot
     * of a cluster.
     *
     * @param charges one or more charges, each with a different pair of policy and stored key
     * @return one quota per limit, in the order of the charges and of their limits
     */
    default List<Quota> peek(List<Charge> charges) {
        List<Quota> quotas = new ArrayList<>();
        charges.forEach(charge -> quotas.addAll(peek(charge)));
        return quotas;
    }

    /**
     * Refunds the charges of a receipt, once, and only the permits that still count.
     *
     * @param receipt a receipt of this backend, or {@link Receipt#EMPTY}
     */
    void refund(Receipt receipt);

    /**
     * Refunds the charges of a receipt like {@link #refund(Receipt)}, without blocking the thread. A backend may bound the number of
     * pending refunds. A refund beyond the bound fails at once with {@link BackendException.Reason#FULL} and leaves the receipt unused.
     *
     * @param receipt a receipt of this backend, or {@link Receipt#EMPTY}
     * @return a stage that completes after the refund, or with a {@link BackendException}, on any thread
     */
    default CompletionStage<Void> refundAsync(Receipt receipt) {
        try {
            refund(receipt);
            return CompletableFuture.completedStage(null);
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /**
     * Replaces the cost of charges of a receipt by the actual cost, as if they had been charged with it. Each charge is settled once.
     *
     * <p><b>Less.</b> The difference is refunded like {@link #refund(Receipt)}: only the permits that still count.
     *
     * <p><b>More.</b> The difference is charged, although the limit may have no room. A window and a log count it with the charge, and not
     * after the window of the charge has passed. A bucket counts the part of it that has not returned since the charge. The difference
     * never raises what a limit counts above its capacity (with a max-wait, and the permits that return within it) plus the permits of
     * one window; a sliding log counts at most {@link Limit#MAX_LOG_PERMITS}. Permits above the limit that a settlement has charged
     * count in full, but under a lowered limit at most up to the same bound of that limit. Deleted state is not charged, except that of
     * a bucket.
     *
     * <p>A charge that was refunded before is not settled. A later refund of the receipt refunds the actual cost.
     *
     * @param receipt a receipt of this backend, or {@link Receipt#EMPTY}
     * @param selection the charges that are settled
     * @param actualCost the actual cost in permits, 0 or more
     * @return the charges that this call settles, with the cost that was reserved
     * @throws UnsupportedOperationException if this backend cannot settle charges
     */
    default List<Charge> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        throw new UnsupportedOperationException("this backend cannot settle charges");
    }

    /**
     * Settles charges like {@link #settle}, without blocking the thread. A backend may bound the number of pending settlements. A
     * settlement beyond the bound fails with {@link BackendException.Reason#FULL}.
     *
     * @param receipt a receipt of this backend, or {@link Receipt#EMPTY}
     * @param selection the charges that are settled
     * @param actualCost the actual cost in permits, 0 or more
     * @return a stage that completes with the settled charges after the settlement, or with a {@link BackendException}, on any thread
     */
    default CompletionStage<List<Charge>> settleAsync(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        try {
            return CompletableFuture.completedStage(settle(receipt, selection, actualCost));
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /**
     * Refunds a cost that was spent at an unknown time, at most the permits that are spent.
     *
     * @param charge the policy, the stored key and the cost
     */
    void refund(Charge charge);

    /**
     * Deletes the state of a key under all limits of a policy.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     */
    void reset(PolicyLimits policy, String storedKey);
}
