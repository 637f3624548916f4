// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The operations of an operator on this instance and on callers. Quotas and resets of callers concern the shared backend, all other
 * operations concern this instance only.
 */
public interface Operations extends CallerOperations {
    /** Returns the configured access to the console. */
    Access access();

    /** Returns the health of the backend without calling it. */
    BackendHealth.Report backend();

    /** Returns the current policies with the origins of their values. */
    List<PolicyView> policies();

    /** Returns the last result of reading the configuration, at first that of the deployment. */
    Reading lastReading();

    /**
     * Returns the top keys of a policy with their stored keys. Stored keys can contain a name or an address and must not be shown.
     */
    TopKeys storedTopKeys(String policy);

    /**
     * Returns the caller, whose {@link CallerOperations.Caller#key} is masked, with a stored key of any origin. This instance need not have
     * the policy. Throws an {@link IllegalArgumentException} if the text cannot be a stored key.
     */
    Caller callerByStoredKey(String policy, String storedKey);

    /**
     * Returns the stored key of a caller, which can contain a name or an address and must not be shown. Throws an
     * {@link IllegalArgumentException} if the caller has another origin.
     */
    String storedKey(Caller caller);

    /** Tests whether a policy can reject calls of a stored key: it is neither off nor in shadow mode for the key. */
    boolean isEnforced(String policy, String storedKey);

    /** Returns the store of the reports of all instances; empty if instances do not share the backend. */
    Optional<FleetStore> fleetStore();

    /** Returns the number of instances that this instance uses while the backend does not decide. */
    int numberOfInstances();

    /** Returns the runtime changes; empty if {@code ratelimit.changes.enabled} is false. */
    default Optional<RuntimeChanges> changes() {
        return Optional.empty();
    }

    /** Returns the role that makes changes; empty if changes are not enabled. */
    default Optional<String> changesRole() {
        return Optional.empty();
    }

    /** Returns the configured address of dashboards, if there is one. */
    Optional<String> grafana();

    /**
     * Returns the number of running calls of this instance by policy, as the metric {@code ratelimit.concurrency} does, for the policies
     * with a concurrency limit.
     */
    Map<String, Integer> runningCalls();

    /** Returns the blocks that this instance knows of. */
    KnownBlocks blocks();
}
