// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import com.google.protobuf.Duration;
import com.google.protobuf.UInt32Value;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.BucketId;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse.BucketAction;
import io.envoyproxy.envoy.type.v3.RateLimitStrategy;
import io.envoyproxy.envoy.type.v3.RateLimitStrategy.BlanketRule;
import io.envoyproxy.envoy.type.v3.TokenBucket;
import java.util.concurrent.TimeUnit;

/** The actions for buckets, as messages of the protocol. */
final class QuotaActions {
    /** A bucket of a proxy gains permits all the time. In this time it gains one, so a lease has what is charged for it. */
    private static final long FILL_SECONDS = TimeUnit.DAYS.toSeconds(365);

    private static final long NANOS = TimeUnit.SECONDS.toNanos(1);

    private QuotaActions() {}

    /** Returns an action that lets the proxy allow a number of requests. A proxy keeps its bucket if two assignments are equal. */
    static BucketAction requests(BucketId bucket, long requests, long nanos, int number) {
        return assignment(
                bucket,
                nanos,
                RateLimitStrategy.newBuilder()
                        .setTokenBucket(TokenBucket.newBuilder()
                                .setMaxTokens((int) Math.min(Integer.MAX_VALUE, requests))
                                .setTokensPerFill(UInt32Value.of(1))
                                .setFillInterval(Duration.newBuilder().setSeconds(FILL_SECONDS + number))));
    }

    static BucketAction all(BucketId bucket, long nanos) {
        return rule(bucket, nanos, BlanketRule.ALLOW_ALL);
    }

    static BucketAction none(BucketId bucket, long nanos) {
        return rule(bucket, nanos, BlanketRule.DENY_ALL);
    }

    /** Returns an action that ends the reports of a bucket without a policy. */
    static BucketAction abandoned(BucketId bucket) {
        return BucketAction.newBuilder()
                .setBucketId(bucket)
                .setAbandonAction(BucketAction.AbandonAction.getDefaultInstance())
                .build();
    }

    private static BucketAction rule(BucketId bucket, long nanos, BlanketRule rule) {
        return assignment(bucket, nanos, RateLimitStrategy.newBuilder().setBlanketRule(rule));
    }

    private static BucketAction assignment(BucketId bucket, long nanos, RateLimitStrategy.Builder strategy) {
        return BucketAction.newBuilder()
                .setBucketId(bucket)
                .setQuotaAssignmentAction(BucketAction.QuotaAssignmentAction.newBuilder()
                        .setAssignmentTimeToLive(
                                Duration.newBuilder().setSeconds(nanos / NANOS).setNanos((int) (nanos % NANOS)))
                        .setRateLimitStrategy(strategy))
                .build();
    }
}
