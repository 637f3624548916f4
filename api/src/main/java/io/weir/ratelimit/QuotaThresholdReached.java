// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.Objects;

/**
 * A CDI event that reports that a key has used a share of a limit, as {@code notify-at} of its policy configures.
 *
 * <p>The event is fired once per key, limit, share and period, by one of the instances that share the backend. A period is the window of
 * a {@linkplain Algorithm#FIXED_WINDOW fixed window} or the period of a calendar limit. For the other algorithms, it is one window long
 * and begins with the event. The first decision of a period after which the used share is at or above the configured one causes the event.
 * A settlement that costs more than was reserved causes it as well.
 *
 * <p>The event is fired on a thread of the container after the decision or the settlement, so observers do not delay the call. An exception
 * of an observer affects neither the decision nor the other observers.
 *
 * <pre>{@code
 * void reached(@ObservesAsync QuotaThresholdReached event) {
 *     mails.send(event.identity(), event.percent() + " % of " + event.quota().permits() + " calls are used");
 * }
 * }</pre>
 *
 * @param endpoint the called endpoint: {@code Class.method}, or {@code RateLimiter} for calls of application code; of a settlement, the
 *     endpoint of the latest call of the key
 * @param policy the name of the policy
 * @param percent the configured share of the capacity, in percent from 1 to 100
 * @param key the key, hashed as in {@link RateLimitRejected#key()}
 * @param identity the key with the values that the caller sent, which can be secrets and personal data
 * @param quota the quota of the limit after the decision or the settlement. Its used permits are {@link Quota#capacity()} less {@link
 *     Quota#remaining()}
 */
public record QuotaThresholdReached(
        String endpoint, String policy, int percent, String key, Identity identity, Quota quota) {
    /** Checks that no component is null and that the share is in range. */
    public QuotaThresholdReached {
        Objects.requireNonNull(endpoint, "endpoint");
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(identity, "identity");
        Objects.requireNonNull(quota, "quota");
        if (percent < 1 || percent > 100) {
            throw new IllegalArgumentException("percent must be from 1 to 100");
        }
    }
}
