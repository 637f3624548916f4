// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.time.Duration;
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
    /** The longest block of a key. */
    Duration MAX_BLOCK = Limit.MAX_WINDOW;

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
     *     {@link #release} and {@link #renew}
     */
    default boolean supports(Limit limit) {
        return !limit.isConcurrency();
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
     * Returns the store of runtime changes, if instances share it.
     *
     * @return the store; by default empty, and then changes concern one instance
     */
    default Optional<ChangeStore> changeStore() {
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
     * Returns the quotas of several keys like {@link #peek(Charge)}. A backend with a server reads them by one call, or by one call per
     * slot of a cluster.
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
     * Releases the slots of a receipt, without blocking the thread. Other limits keep their charges. A slot is free once: a second release,
     * a release after a {@linkplain #refund(Receipt) refund}, which releases the slots as well, or after the slot has expired has no effect
     * on the slots of other calls. A release that failed can be tried again.
     *
     * @param receipt a receipt of this backend, or {@link Receipt#EMPTY}
     * @return a stage that completes after the release, or with a {@link BackendException}, on any thread
     */
    default CompletionStage<Void> release(Receipt receipt) {
        return CompletableFuture.completedStage(null);
    }

    /**
     * Renews the slots of receipts, so that they expire one timeout from now, without blocking the thread. An expired or released slot is
     * not taken again.
     *
     * @param receipts receipts of this backend, all with slots
     * @return a stage that completes with those of the receipts that have lost a slot, because it had expired and its key no longer has it,
     *     or with a {@link BackendException}, on any thread
     */
    default CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        return CompletableFuture.completedStage(List.of());
    }

    /**
     * Refunds a cost that was spent at an unknown time, at most the permits that are spent.
     *
     * @param charge the policy, the stored key and the cost
     */
    void refund(Charge charge);

    /**
     * Blocks a key under a policy until an end, by the clock of the backend. While it is blocked, {@link #acquire} rejects each call with
     * an enforced charge of the key, whatever the limits, the tier and the max-wait, and spends nothing. A shadow charge of the key is not
     * spent, and its quotas are rejected.
     *
     * <p>Each quota of a blocked key has {@link Quota#blockedMicros()}, no remaining permits, and as retry-after the time until the block
     * ends, or the longer wait of the limit. The time until its reset is never shorter than the block. {@link #peek} returns such
     * quotas as well. Refunds and settlements change the state of the limits as before.
     *
     * <p>A later end extends the block, an earlier one has no effect. The block ends by itself, by {@link #unblock} and by {@link #reset}.
     *
     * @param policy the limits of the policy. The block is that of the policy, whatever its limits are now and later
     * @param storedKey the stored key
     * @param duration the time from now to the end, more than zero and at most {@link #MAX_BLOCK}; rounded up to microseconds
     * @return the time from now to the end of the block, at least the duration
     * @throws UnsupportedOperationException if this backend cannot block keys
     */
    default Duration block(PolicyLimits policy, String storedKey, Duration duration) {
        throw new UnsupportedOperationException("this backend cannot block keys");
    }

    /**
     * Blocks a key like {@link #block}, without blocking the thread.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     * @param duration the time from now to the end
     * @return a stage that completes with the time to the end of the block, or with a {@link BackendException}, on any thread
     */
    default CompletionStage<Duration> blockAsync(PolicyLimits policy, String storedKey, Duration duration) {
        try {
            return CompletableFuture.completedStage(block(policy, storedKey, duration));
        } catch (BackendException | UnsupportedOperationException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /**
     * Ends the block of a key under a policy, and forgets its rejections and penalties. An instance that knows an earlier rejection can
     * repeat it for at most one more second.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     * @throws UnsupportedOperationException if this backend cannot block keys
     */
    default void unblock(PolicyLimits policy, String storedKey) {
        throw new UnsupportedOperationException("this backend cannot block keys");
    }

    /**
     * Counts rejections of a key, and blocks it if their number leads to a penalty. Exactly one call of all instances imposes it. If the
     * key is blocked, for whatever reason, nothing is counted.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     * @param rejections the number of rejections, 1 or more
     * @param rule the rule
     * @return a stage that completes with the penalty that this call has imposed, empty if it has imposed none, or with a {@link
     *     BackendException}, on any thread. It fails with {@link UnsupportedOperationException} if this backend cannot block keys
     */
    default CompletionStage<Optional<Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        return CompletableFuture.failedStage(new UnsupportedOperationException("this backend cannot block keys"));
    }

    /**
     * Deletes the state of a key under all limits of a policy, and ends its block like {@link #unblock}.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     */
    void reset(PolicyLimits policy, String storedKey);
}
