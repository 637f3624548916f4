// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import java.util.List;
import java.util.OptionalLong;

/**
 * The quotas that a response shows.
 *
 * @param quotas one quota per limit, at least one
 * @param decisive the quota that rejected the call, else the one closest to exhaustion
 * @param nowSeconds the time of the server, in seconds since the epoch
 */
record QuotaView(List<Quota> quotas, Quota decisive, long nowSeconds) {

    /** Creates the view of an allowed call. */
    static QuotaView allowed(List<Quota> quotas, long nowSeconds) {
        return new QuotaView(quotas, Quota.closestToExhaustion(quotas), nowSeconds);
    }

    /** Creates the view of a rejected call. */
    static QuotaView rejected(Decision.Rejected decision, long nowSeconds) {
        return new QuotaView(decision.quotas(), decision.decisiveQuota(), nowSeconds);
    }

    /** Returns the time of the server, in seconds since the epoch. */
    static long now() {
        return System.currentTimeMillis() / 1_000;
    }

    /** Converts microseconds to seconds, rounded up, because a client must not retry too early. */
    static long ceilSeconds(long micros) {
        return micros / 1_000_000 + (micros % 1_000_000 == 0 ? 0 : 1);
    }

    /** Converts a wait to seconds, rounded up, and at least 1. */
    static long waitSeconds(long micros) {
        return Math.max(1, ceilSeconds(micros));
    }

    /** Returns the wait of a rejected call in seconds, empty if no wait helps. */
    static OptionalLong waitSeconds(Decision.Rejected decision) {
        long micros = decision.decisiveQuota().retryAfterMicros();
        return micros == Quota.NEVER ? OptionalLong.empty() : OptionalLong.of(waitSeconds(micros));
    }
}
