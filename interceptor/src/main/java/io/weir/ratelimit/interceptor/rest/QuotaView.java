// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import java.util.List;
import java.util.OptionalLong;

/**
 * What a client is told of its quotas.
 *
 * @param quotas one per limit, one or more
 * @param decisive the limit that refused, or else the one closest to exhaustion
 * @param nowSeconds this server's wall clock, in seconds since the epoch
 */
record QuotaView(List<Quota> quotas, Quota decisive, long nowSeconds) {

    /** After an admitted call: the limit with the least part left. */
    static QuotaView allowed(List<Quota> quotas, long nowSeconds) {
        return new QuotaView(quotas, Quota.closestToExhaustion(quotas), nowSeconds);
    }

    /** After a refusal: the limit that decides how long to wait. */
    static QuotaView rejected(Decision.Rejected decision, long nowSeconds) {
        return new QuotaView(decision.quotas(), decision.decisiveQuota(), nowSeconds);
    }

    /** This server's wall clock, in seconds since the epoch. */
    static long now() {
        return System.currentTimeMillis() / 1_000;
    }

    /** Seconds that have begun in a number of microseconds: a client must never be told too little. */
    static long ceilSeconds(long micros) {
        return micros / 1_000_000 + (micros % 1_000_000 == 0 ? 0 : 1);
    }

    /** Seconds that a client has to wait: rounded up, since one who comes too early is refused again, and at least 1. */
    static long waitSeconds(long micros) {
        return Math.max(1, ceilSeconds(micros));
    }

    /** The seconds until a refused call would be admitted, empty if no wait helps. */
    static OptionalLong waitSeconds(Decision.Rejected decision) {
        long micros = decision.decisiveQuota().retryAfterMicros();
        return micros == Quota.NEVER ? OptionalLong.empty() : OptionalLong.of(waitSeconds(micros));
    }
}
