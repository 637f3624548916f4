// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A store that decides: one atomic check-and-spend over several limits at once, all or nothing.
 *
 * <p>A CDI bean of this type takes part under its {@link #name()}; {@code ratelimit.backend} chooses by that name. Every
 * implementation passes the contract test in this artifact's test jar.
 *
 * <p>Implementations are safe for use by many threads. Where an operation cannot be done, it throws a {@link BackendException},
 * or completes with one, within the store's own deadline.
 */
public interface RateLimitBackend {

    /**
     * The name that {@code ratelimit.backend} knows the store by.
     *
     * @return the name, such as {@code redisson}
     */
    String name();

    /**
     * Whether the application has configured this store, so that {@code ratelimit.backend=auto} prefers it.
     *
     * @return true if it is configured
     */
    boolean configured();

    /**
     * Checks the store's own configuration. Called once at deployment before {@link #start}, only for the chosen store.
     *
     * @return what is wrong, empty if nothing is
     */
    default List<ConfigurationProblem> problems() {
        return List.of();
    }

    /**
     * Takes who hears of what the store does. Called at most once and before {@link #start}, only for the chosen store. A store
     * tells of what it has: one that does not combine checks, of no flights.
     *
     * @param listener called on any thread, never blocks
     */
    default void listen(BackendListener listener) {}

    /**
     * How the store is, without asking it.
     *
     * @return what it knows about itself
     */
    default BackendStatus status() {
        return BackendStatus.READY;
    }

    /**
     * Starts connecting, without waiting for it: a store that is away must not fail the deployment. Called once, only for the
     * chosen store and only if nothing is wrong.
     */
    default void start() {}

    /**
     * Evaluates every limit of every charge at one instant; spends all if all have room, else writes nothing.
     *
     * <p>{@linkplain Charge#shadow() Shadow} charges have no part in that. If all others have room, each of them is spent that has
     * room for itself under all of its limits, and the others spend nothing; if not, none is. A call that has only shadow charges
     * is admitted. A store that has its keys in several places may spend shadow charges right after the call is admitted instead
     * of at the same instant. Where it cannot find out about a shadow charge, it leaves all quotas of that charge out, and the
     * decision is what it is without; it fails only if it can find out about no charge of the call at all.
     *
     * <p>A bucket also has room for a call that gets its slot within the charge's patience ({@link LimitState#admits}): the call
     * is charged now, and its caller waits. The store itself never waits.
     *
     * @param charges one or more, no two of one policy and identity
     * @return {@link Decision.Allowed} with a receipt of what was spent and the wait until the latest slot, or
     *     {@link Decision.Rejected}, with one quota per limit in the order of the charges and their limits, those of shadow charges
     *     apart from the others
     */
    Decision acquire(List<Charge> charges);

    /**
     * As {@link #acquire}, without waiting.
     *
     * @param charges one or more, no two of one policy and identity
     * @return completed with the decision or a {@link BackendException}, on any thread
     */
    CompletionStage<Decision> acquireAsync(List<Charge> charges);

    /**
     * What the limits of a policy say about a key, for a call of the charge's cost and patience. Writes nothing.
     *
     * @param charge the policy, the key and the cost
     * @return one quota per limit
     */
    List<Quota> peek(Charge charge);

    /**
     * Gives back what a decision of this store spent; once, and only as far as it still counts.
     *
     * @param receipt a receipt of this store, or {@link Receipt#EMPTY}
     */
    void giveBack(Receipt receipt);

    /**
     * As {@link #giveBack(Receipt)}, without waiting. A store may bound how many it has in hand: more fail at once, with
     * {@link BackendException.Reason#FULL}, and leave the receipt unused.
     *
     * @param receipt a receipt of this store, or {@link Receipt#EMPTY}
     * @return completed when it is given back, or with a {@link BackendException}, on any thread
     */
    default CompletionStage<Void> giveBackAsync(Receipt receipt) {
        try {
            giveBack(receipt);
            return CompletableFuture.completedStage(null);
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /**
     * Gives back a cost that was spent at an unknown time, as far as anything is spent.
     *
     * @param charge the policy, the key and the cost
     */
    void giveBack(Charge charge);

    /**
     * Drops the state of a key under all limits of a policy.
     *
     * @param policy the policy's limits
     * @param identity the key in its stored form
     */
    void reset(PolicyLimits policy, String identity);
}
