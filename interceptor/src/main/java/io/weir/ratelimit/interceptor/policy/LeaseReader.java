// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Reads how many permits an instance may take ahead under a policy. */
final class LeaseReader {
    private static final Set<Algorithm> ALGORITHMS =
            Set.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET);

    private final ConfigReader reader;
    private final Problems problems;
    private final String property;

    LeaseReader(ConfigReader reader, Problems problems, String policy) {
        this.reader = reader;
        this.problems = problems;
        this.property = reader.policyProperty(policy, "lease");
    }

    /** The permits, 0 if there is no lease or it is wrong. */
    long read(Algorithm algorithm, Duration maxWait, List<Limit> limits) {
        String text = reader.text(property).orElse("0");
        if (!text.matches("\\d{1,9}") || Long.parseLong(text) > PolicyLimits.MAX_LEASE) {
            return wrong(
                    "WEIR-129",
                    text,
                    "must be a whole number of permits from 0 to " + PolicyLimits.MAX_LEASE,
                    "correct it or leave it out for the default");
        }
        long lease = Long.parseLong(text);
        if (lease == 0) {
            return 0;
        }
        if (!ALGORITHMS.contains(algorithm) || !maxWait.isZero()) {
            return wrong(
                    "WEIR-128",
                    text,
                    maxWait.isZero()
                            ? "permits of a " + algorithm.configName() + " cannot be taken ahead"
                            : "permits that calls wait for cannot be taken ahead",
                    "leave it out, or use fixed-window, sliding-window or token-bucket without max-wait");
        }
        long most = most(limits);
        if (lease > most) {
            return wrong(
                    "WEIR-130",
                    text,
                    "one instance would hold more than half of what the smallest limit permits",
                    most == 0
                            ? "leave it out"
                            : "use " + most + " or less, best a hundredth of the limit divided by the instances");
        }
        return lease;
    }

    /** The limits of a tier or of a single key with the lease of their policy, or as much of it as they bear. */
    static PolicyLimits leased(PolicyLimits limits, long lease) {
        return limits.withLease(Math.min(lease, most(limits.limits())));
    }

    /** The greatest lease beside some limits: one instance must not hold the most of what one of them permits. */
    private static long most(List<Limit> limits) {
        // A limit of 0 blocks, also in a hurry and whatever stands beside it.
        return limits.stream()
                        .mapToLong(Limit::capacity)
                        .filter(capacity -> capacity > 0)
                        .min()
                        .orElse(Long.MAX_VALUE)
                / 2;
    }

    private long wrong(String code, String text, String what, String remedy) {
        problems.add(code, property, text, what, remedy);
        return 0;
    }
}
