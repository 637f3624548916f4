// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The runtime changes as an operator sees and makes them. Each call of the store waits for one second at most. */
public interface RuntimeChanges {
    /** Returns the state that this instance knows, without a call. */
    View view();

    /**
     * Returns the problems that a change would have at deployment, without making it. The change must be valid now and after each later end
     * of a change of the same policy.
     */
    List<ConfigurationProblem> problems(ChangeRequest request);

    /**
     * Returns the warnings about a policy with a change, whether it is made or not. They are about attributes without an effect, and about
     * costs that the limits cannot hold. The only warning about a change of a key is that the policy is not enforced for the key. A change
     * of another form has none, and neither has one with which the policy is invalid.
     */
    List<String> warnings(ChangeRequest request);

    /**
     * Makes a change.
     *
     * @param expectedTag the tag of the state that the operator has seen
     * @throws InvalidChangeException if the change is invalid
     * @throws ChangeConflictException if the state has another tag; nothing is changed
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the store does not answer; whether the change is made is unknown
     * @throws ChangeUnsentException if the store is known to be unavailable; nothing is changed
     */
    RuntimeChange make(ChangeRequest request, String expectedTag)
            throws InvalidChangeException, ChangeConflictException;

    /**
     * Ends a change, so that earlier changes or the configuration apply again. The undo of an undo makes its change again.
     *
     * @param number the number of an active change, or of an undo whose change has not ended
     * @param author the user of the container
     * @param expectedTag the tag of the state that the operator has seen
     * @return the change that ends the other, or that repeats it
     * @throws InvalidChangeException if no such change has this number, if the reason or a repeated change is invalid, or if other changes
     *     would be invalid without the change
     * @throws ChangeConflictException if the state has another tag; nothing is changed
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the store does not answer; whether the change is made is unknown
     * @throws ChangeUnsentException if the store is known to be unavailable; nothing is changed
     */
    RuntimeChange undo(long number, String reason, String author, String expectedTag)
            throws InvalidChangeException, ChangeConflictException;

    /**
     * Returns the last changes from the log, the latest first. Entries that cannot be read are left out.
     *
     * @param count the greatest number of changes, 1 to 1000
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the store does not answer
     */
    List<RuntimeChange> log(int count);

    /**
     * The known state.
     *
     * @param shared whether the instances share the changes; false if they concern this instance only
     * @param tag the tag of the state, empty if there is none
     * @param read the instant of the last answer of the store; empty before the first one
     * @param active the changes that have not ended, the latest first
     * @param withoutPolicy the numbers of the active changes whose policy this instance does not have
     * @param notInForce the problems of the active changes that this instance cannot apply, by their numbers
     * @param problem the reason why the state of the store is ignored, such as a missing signature; empty if it is in force
     */
    record View(
            boolean shared,
            String tag,
            Optional<Instant> read,
            List<RuntimeChange> active,
            List<Long> withoutPolicy,
            Map<Long, List<ConfigurationProblem>> notInForce,
            Optional<String> problem) {
        /** Copies the collections. */
        public View {
            active = List.copyOf(active);
            withoutPolicy = List.copyOf(withoutPolicy);
            notInForce = Map.copyOf(notInForce);
        }
    }
}
