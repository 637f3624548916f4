// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import com.google.protobuf.Duration;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.BucketId;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse.BucketAction;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaServiceGrpc;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports.BucketQuotaUsage;
import io.envoyproxy.envoy.type.v3.RateLimitStrategy.BlanketRule;
import io.grpc.Channel;
import io.grpc.stub.StreamObserver;
import io.weir.ratelimit.fixtures.Await;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A proxy with one bucket. It spends what it is assigned, and rejects everything else. */
final class QuotaProxy implements StreamObserver<RateLimitQuotaResponse>, AutoCloseable {
    private static final java.time.Duration SOON = java.time.Duration.ofSeconds(60);

    private final BucketId bucket;
    private final String domain;
    private final StreamObserver<RateLimitQuotaUsageReports> reports;
    private @Nullable BucketAction action;
    private @Nullable Throwable failure;
    private int actions;
    private long tokens;
    private long reportedNanos = System.nanoTime();
    private long expiresNanos;
    private boolean expires;
    private boolean allowsAll;
    private long allowed;
    private long rejected;
    private boolean isFirst = true;
    private boolean isEnded;

    QuotaProxy(Channel channel, String domain, Map<String, String> bucket) {
        this.domain = domain;
        this.bucket = BucketId.newBuilder().putAllBucket(bucket).build();
        this.reports = RateLimitQuotaServiceGrpc.newStub(channel).streamRateLimitQuotas(this);
    }

    /** Lets the assignments of this proxy expire. */
    QuotaProxy expiring() {
        expires = true;
        return this;
    }

    @Override
    public synchronized void onNext(RateLimitQuotaResponse response) {
        for (BucketAction each : response.getBucketActionList()) {
            action = each;
            actions++;
            Duration life = each.getQuotaAssignmentAction().getAssignmentTimeToLive();
            // Not later than by the clock of the server, which has received the report since.
            expiresNanos = reportedNanos + TimeUnit.SECONDS.toNanos(life.getSeconds()) + life.getNanos();
            tokens = each.getQuotaAssignmentAction()
                    .getRateLimitStrategy()
                    .getTokenBucket()
                    .getMaxTokens();
            allowsAll = each.getQuotaAssignmentAction().getRateLimitStrategy().hasBlanketRule()
                    && each.getQuotaAssignmentAction().getRateLimitStrategy().getBlanketRule() == BlanketRule.ALLOW_ALL;
        }
    }

    @Override
    public synchronized void onError(Throwable error) {
        failure = error;
    }

    @Override
    public synchronized void onCompleted() {
        isEnded = true;
    }

    synchronized boolean isEnded() {
        return isEnded;
    }

    synchronized int actions() {
        return actions;
    }

    synchronized @Nullable Throwable failure() {
        return failure;
    }

    synchronized BucketAction action() {
        if (action == null) {
            throw new AssertionError("no assignment");
        }
        return action;
    }

    synchronized long tokens() {
        return tokens;
    }

    /** Tries a number of requests. Returns how many the proxy allows. */
    synchronized long requests(long count) {
        if (expires && System.nanoTime() > expiresNanos) {
            tokens = 0;
        }
        long possible = allowsAll ? count : Math.min(count, tokens);
        tokens -= allowsAll ? 0 : possible;
        allowed += possible;
        rejected += count - possible;
        return possible;
    }

    /** Reports the use since the last report, without waiting for the assignment. */
    synchronized void report(int millis) {
        reportedNanos = System.nanoTime();
        BucketQuotaUsage.Builder usage = BucketQuotaUsage.newBuilder()
                .setBucketId(bucket)
                .setNumRequestsAllowed(allowed)
                .setNumRequestsDenied(rejected)
                .setTimeElapsed(Duration.newBuilder().setSeconds(millis / 1_000).setNanos(millis % 1_000 * 1_000_000));
        RateLimitQuotaUsageReports.Builder report =
                RateLimitQuotaUsageReports.newBuilder().addBucketQuotaUsages(usage);
        if (isFirst) {
            report.setDomain(domain);
            isFirst = false;
        }
        allowed = 0;
        rejected = 0;
        reports.onNext(report.build());
    }

    /** Reports, and waits for the assignment. */
    BucketAction exchange(int millis) {
        int before = actions();
        report(millis);
        Await.until("an assignment", SOON, () -> actions() > before || failure() != null);
        return action();
    }

    void end() {
        reports.onCompleted();
    }

    /** Ends the stream as a proxy that dies. */
    @Override
    public void close() {
        reports.onError(new InterruptedException("the proxy dies"));
    }
}
