// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Reads the limits of a policy, its own and those of its tiers. */
final class LimitsReader {
    private final ConfigReader reader;
    private final Problems problems;
    private final String policy;

    LimitsReader(ConfigReader reader, Problems problems, String policy) {
        this.reader = reader;
        this.problems = problems;
        this.policy = policy;
    }

    /** Limits with their burst; which of both is wrong, is said. */
    Optional<List<Limit>> parsed(
            String text, String limitPlace, Algorithm algorithm, Optional<Long> burst, String burstPlace) {
        try {
            return Optional.of(LimitParser.parse(text, algorithm, burst));
        } catch (IllegalArgumentException e) {
            boolean wrongBurst = burst.isPresent() && isRight(text, algorithm);
            problems.add(
                    wrongBurst ? "WEIR-116" : "WEIR-111",
                    wrongBurst ? burstPlace : limitPlace,
                    wrongBurst ? burst.get().toString() : text,
                    String.valueOf(e.getMessage()),
                    wrongBurst
                            ? "a burst is what a token bucket or a leaky bucket holds, 1 or more"
                            : "a limit is <permits>/<duration>, such as 100/1m, several separated by commas");
            return Optional.empty();
        }
    }

    /** Whether limits would be right without the burst beside them. */
    private static boolean isRight(String limits, Algorithm algorithm) {
        try {
            return !LimitParser.parse(limits, algorithm, Optional.empty()).isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The limits with calls that may wait, where the policy has a max-wait. */
    Optional<List<Limit>> shaped(List<Limit> limits, Duration maxWait) {
        try {
            return Optional.of(
                    limits.stream().map(limit -> limit.withMaxWait(maxWait)).toList());
        } catch (IllegalArgumentException e) {
            problems.add(
                    "WEIR-117",
                    reader.policyProperty(policy, "max-wait"),
                    maxWait.toMillis() + "ms",
                    String.valueOf(e.getMessage()),
                    "use a shorter max-wait");
            return Optional.empty();
        }
    }

    Optional<PolicyLimits> named(String tier, String limitPlace, List<Limit> limits) {
        try {
            return Optional.of(new PolicyLimits(policy, tier, limits));
        } catch (IllegalArgumentException e) {
            problems.add("WEIR-109", limitPlace, "", String.valueOf(e.getMessage()), "give each limit its own window");
            return Optional.empty();
        }
    }

    /** The longest that a call may wait. */
    static Duration maxWait(String text) {
        Duration longest = Durations.parse(text);
        if (longest.compareTo(Limit.MAX_MAX_WAIT) > 0) {
            throw new IllegalArgumentException("must be from 0s to 1h");
        }
        return longest;
    }
}
