// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.limit.SipHash;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A named set of limits on one key. The name and the limits of callers without a tier are in {@code limits}.
 *
 * @param cost the default cost of a call in permits, 1 or more
 * @param maxWaiting the number of calls that may hold a thread while they wait, 1 or more
 * @param count the calls that stay charged
 * @param pathRule the requests that the policy applies to without an annotation
 * @param notifyAt the used shares of each limit that are reported once per key and period, in percent from 1 to 100, ascending
 * @param penalty the rule by which rejections of a key block it; empty for no penalties
 */
public record Policy(
        PolicyLimits limits,
        LimitForm form,
        Tiers tiers,
        KeyExpression key,
        long cost,
        FailureMode onFailure,
        int maxWaiting,
        Rollout rollout,
        Count count,
        Response response,
        Optional<PathRule> pathRule,
        List<Integer> notifyAt,
        Optional<PenaltyRule> penalty) {

    /** The hash that selects keys. Its key is constant, so that all instances select the same keys. */
    private static final SipHash SELECTION = new SipHash(0x776569722d656e66L, 0x6f7263652d706374L);

    /** The default number of calls that may hold a thread while they wait. The thread pool of a server can be small. */
    public static final int MAX_WAITING = 2;

    /** The number of calls that may wait at once without a thread. They hold memory and the connections of their clients. */
    public static final int MAX_WAITING_WITHOUT_THREAD = 10_000;

    /** The effect of a policy on calls. */
    public enum Mode {
        /** The policy rejects calls that exceed its limits. */
        ENFORCE,
        /** The policy only reports the calls that it would reject, which spend nothing. It rejects those of a share of the keys. */
        SHADOW,
        /** The policy is disabled. A request that it matches is still not one for {@code paths=default}. */
        OFF
    }

    /** The keys for which a policy rejects calls. In shadow mode, these are a share in percent from 0 to 100. */
    public record Rollout(Mode mode, int enforcePercent) {
        /** The policy rejects the calls of all keys. */
        public static final Rollout ALL = new Rollout(Mode.ENFORCE, 0);
    }

    /** The information about a policy that clients get, with a URI reference of a page about the limit. */
    public record Response(Disclosure disclosure, Optional<String> help) {
        /** The name and the quotas, without a page. */
        public static final Response FULL = new Response(Disclosure.FULL, Optional.empty());
    }

    /** The calls that stay charged. Other calls get a refund when their outcome is known. */
    public enum Count {
        /** All calls. */
        ALWAYS,
        /** Requests with a status of 2xx or 3xx, and methods of beans that return. */
        SUCCESS,
        /** Requests with a status of 4xx or 5xx or without a response, and methods of beans that throw. */
        FAILURE;

        /** Tests whether a call stays charged, and gets no refund. */
        public boolean counts(boolean succeeded) {
            return this == ALWAYS || (this == SUCCESS) == succeeded;
        }
    }

    /** The information about a policy that clients get. */
    public enum Disclosure {
        /** The name and the quotas. */
        FULL,
        /** Only the rejection and its retry-after. */
        MINIMAL
    }

    /** Tests whether the policy or a tier has a concurrency limit; that of a single key does not count. */
    public boolean hasConcurrency() {
        return allLimits().anyMatch(PolicyLimits::hasConcurrency);
    }

    /** Returns the limits of callers without a tier, and then those of each tier. */
    public Stream<PolicyLimits> allLimits() {
        return Stream.concat(Stream.of(limits), tiers.limits().values().stream());
    }

    public Policy {
        notifyAt = List.copyOf(notifyAt);
    }

    /** Starts a policy with defaults for all attributes but its name with the limits of callers without a tier, and its key. */
    public static PolicyBuilder builder(PolicyLimits limits, KeyExpression key) {
        return new PolicyBuilder(limits, key);
    }

    /** Starts a policy with the attributes of this one. */
    public PolicyBuilder toBuilder() {
        return builder(limits, key)
                .form(form)
                .tiers(tiers)
                .cost(cost)
                .onFailure(onFailure)
                .maxWaiting(maxWaiting)
                .mode(rollout.mode)
                .enforcePercent(rollout.enforcePercent)
                .count(count)
                .disclosure(response.disclosure)
                .help(response.help)
                .pathRule(pathRule)
                .notifyAt(notifyAt)
                .penalty(penalty);
    }

    /** Returns the policy with the limits of one key in place of those of all callers, without tiers, for checks. */
    public Policy withLimits(PolicyLimits ofKey) {
        return toBuilder().limits(ofKey).tiers(Tiers.NONE).build();
    }

    public String name() {
        return limits.policy();
    }

    /** Tests whether the policy is enforced, for all keys or for some. */
    public boolean canReject() {
        return rollout.mode == Mode.ENFORCE || (rollout.mode == Mode.SHADOW && rollout.enforcePercent > 0);
    }

    /**
     * Tests whether calls of a key are only reported, in shadow mode and outside the share that is enforced. A key that is enforced at a
     * percentage is so at each higher one.
     */
    public boolean isShadowFor(String storedKey) {
        return rollout.mode == Mode.SHADOW && (rollout.enforcePercent == 0 || !isSelected(storedKey));
    }

    /** The name is part of the hash, so that not the same keys are the first under each policy. */
    private boolean isSelected(String storedKey) {
        return Long.remainderUnsigned(SELECTION.hash(name() + ' ' + storedKey), 100) < rollout.enforcePercent;
    }

    /** Tests whether the charges of all callers differ by key and cost only; false if the policy has tiers or a max-wait. */
    public boolean hasSameChargeForAll() {
        return tiers.limits().isEmpty() && maxWaitMicros() == 0;
    }

    public long maxWaitMicros() {
        Duration longest = limits.limits().get(0).maxWait();
        return longest.isZero() ? 0 : longest.toMillis() * 1_000;
    }

    /** Tests whether the path rule of the policy is early, so that it decides before a request is matched to a resource. */
    public boolean isEarly() {
        return pathRule.isPresent() && pathRule.get().early();
    }
}
