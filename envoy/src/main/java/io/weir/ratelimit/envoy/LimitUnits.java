// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit;
import io.envoyproxy.envoy.type.v3.RateLimitUnit;
import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;

/** The units of limits in the protocol, which has no other windows. */
final class LimitUnits {
    private LimitUnits() {}

    /** Returns the unit of a quota, {@link Unit#UNKNOWN} if its window is not one unit. */
    static Unit of(Quota quota) {
        if (quota.kind() == Quota.Kind.CONCURRENCY) {
            return Unit.UNKNOWN;
        }
        long hours = quota.window().toHours();
        if (quota.kind() == Quota.Kind.CALENDAR && hours > 0) {
            long days = Math.round(hours / 24.0);
            return hours < 2
                    ? Unit.HOUR
                    : days == 1
                            ? Unit.DAY
                            : days == 7
                                    ? Unit.WEEK
                                    : days >= 28 && days <= 31
                                            ? Unit.MONTH
                                            : days >= 365 && days <= 366 ? Unit.YEAR : Unit.UNKNOWN;
        }
        if (quota.window().equals(Duration.ofSeconds(1))) {
            return Unit.SECOND;
        }
        if (quota.window().equals(Duration.ofMinutes(1))) {
            return Unit.MINUTE;
        }
        if (quota.window().equals(Duration.ofHours(1))) {
            return Unit.HOUR;
        }
        if (quota.window().equals(Duration.ofDays(1))) {
            return Unit.DAY;
        }
        return quota.window().equals(Duration.ofDays(7)) ? Unit.WEEK : Unit.UNKNOWN;
    }

    /** Returns the limits that a descriptor brings for a policy; empty if its unit is not known. */
    static Optional<PolicyLimits> limits(Policy policy, RateLimitDescriptor.RateLimitOverride override) {
        long permits = Integer.toUnsignedLong(override.getRequestsPerUnit());
        return limit(permits, override.getUnit()).map(limit -> new PolicyLimits(policy.name(), List.of(limit)));
    }

    private static Optional<Limit> limit(long permits, RateLimitUnit unit) {
        return switch (unit) {
            case SECOND -> Optional.of(Limit.of(Algorithm.FIXED_WINDOW, permits, Duration.ofSeconds(1)));
            case MINUTE -> calendar(permits, CalendarPeriod.Unit.MINUTE);
            case HOUR -> calendar(permits, CalendarPeriod.Unit.HOUR);
            case DAY -> calendar(permits, CalendarPeriod.Unit.DAY);
            case MONTH -> calendar(permits, CalendarPeriod.Unit.MONTH);
            case YEAR -> calendar(permits, CalendarPeriod.Unit.YEAR);
            default -> Optional.empty();
        };
    }

    private static Optional<Limit> calendar(long permits, CalendarPeriod.Unit unit) {
        return Optional.of(Limit.of(permits, new CalendarPeriod(unit, ZoneOffset.UTC, 1)));
    }
}
