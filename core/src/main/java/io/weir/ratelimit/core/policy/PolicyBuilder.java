// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.util.List;
import java.util.Optional;

/** A {@link Policy} in preparation. Each attribute that is not set has its default. */
public final class PolicyBuilder {
    private PolicyLimits limits;
    private final KeyExpression key;
    private LimitForm form;
    private Tiers tiers = Tiers.NONE;
    private long cost = 1;
    private FailureMode onFailure = FailureMode.OPEN;
    private int maxWaiting = Policy.MAX_WAITING;
    private Policy.Mode mode = Policy.Rollout.ALL.mode();
    private int enforcePercent = Policy.Rollout.ALL.enforcePercent();
    private Policy.Count count = Policy.Count.ALWAYS;
    private Policy.Disclosure disclosure = Policy.Response.FULL.disclosure();
    private Optional<String> help = Policy.Response.FULL.help();
    private Optional<PathRule> pathRule = Optional.empty();
    private List<Integer> notifyAt = List.of();
    private Optional<PenaltyRule> penalty = Optional.empty();

    PolicyBuilder(PolicyLimits limits, KeyExpression key) {
        this.limits = limits;
        this.key = key;
        this.form = LimitForm.of(
                limits.limits().get(0) instanceof WindowLimit window ? window.algorithm() : Algorithm.FIXED_WINDOW);
    }

    /** Sets the name and the limits of callers without a tier. */
    public PolicyBuilder limits(PolicyLimits newLimits) {
        limits = newLimits;
        return this;
    }

    /** Sets the attributes that all limits share; by default those of the algorithm of the first limit. */
    public PolicyBuilder form(LimitForm newForm) {
        form = newForm;
        return this;
    }

    /** Sets the limits of callers with a tier; none by default. */
    public PolicyBuilder tiers(Tiers newTiers) {
        tiers = newTiers;
        return this;
    }

    /** Sets the default cost of a call in permits, 1 or more. */
    public PolicyBuilder cost(long newCost) {
        cost = newCost;
        return this;
    }

    public PolicyBuilder onFailure(FailureMode newOnFailure) {
        onFailure = newOnFailure;
        return this;
    }

    /** Sets the number of calls that may hold a thread while they wait, 1 or more. */
    public PolicyBuilder maxWaiting(int newMaxWaiting) {
        maxWaiting = newMaxWaiting;
        return this;
    }

    public PolicyBuilder mode(Policy.Mode newMode) {
        mode = newMode;
        return this;
    }

    /** Sets the share of the keys for which the policy rejects calls in shadow mode, in percent from 0 to 100. */
    public PolicyBuilder enforcePercent(int newEnforcePercent) {
        enforcePercent = newEnforcePercent;
        return this;
    }

    /** Sets the calls that stay charged. */
    public PolicyBuilder count(Policy.Count newCount) {
        count = newCount;
        return this;
    }

    /** Sets the amount of the information that clients get. */
    public PolicyBuilder disclosure(Policy.Disclosure newDisclosure) {
        disclosure = newDisclosure;
        return this;
    }

    /** Sets a URI reference of a page about the limit. */
    public PolicyBuilder help(Optional<String> newHelp) {
        help = newHelp;
        return this;
    }

    /** Sets the requests that the policy applies to without an annotation. */
    public PolicyBuilder pathRule(Optional<PathRule> newPathRule) {
        pathRule = newPathRule;
        return this;
    }

    /** Sets the used shares that are reported, in percent, ascending. */
    public PolicyBuilder notifyAt(List<Integer> newNotifyAt) {
        notifyAt = newNotifyAt;
        return this;
    }

    /** Sets the rule by which rejections of a key block it. */
    public PolicyBuilder penalty(Optional<PenaltyRule> newPenalty) {
        penalty = newPenalty;
        return this;
    }

    public Policy build() {
        return new Policy(
                limits,
                form,
                tiers,
                key,
                cost,
                onFailure,
                maxWaiting,
                new Policy.Rollout(mode, enforcePercent),
                count,
                new Policy.Response(disclosure, help),
                pathRule,
                notifyAt,
                penalty);
    }
}
