// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.BucketId;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse.BucketAction;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports.BucketQuotaUsage;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.runtime.HostedWeir;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The stream of one proxy. Each report of a bucket is answered by a new lease. If the stream ends, its leases stay charged, because the
 * proxy can have used them.
 */
final class QuotaStream implements StreamObserver<RateLimitQuotaUsageReports> {
    /** The number of buckets of one stream and the size of a bucket, which bound its memory. */
    static final int MAX_BUCKETS = 10_000;

    static final int MAX_BUCKET_BYTES = 4_096;

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final HostedWeir weir;
    private final Selection selection;
    private final QuotaLeases leases;
    private final ServerCallStreamObserver<RateLimitQuotaResponse> observer;
    private final Set<QuotaStream> streams;
    private final Map<BucketId, Known> buckets = new HashMap<>();
    private String domain = "";
    private boolean ended;
    private boolean isWarned;
    private boolean isChanged;

    /** Whether the next report is not requested yet. */
    private boolean isHeld;

    /** A bucket of the stream. */
    private static final class Known {
        private final QuotaBucket quota = new QuotaBucket();
        private Selection.@Nullable Selected selected;
        private long leaseNanos = FIRST_NANOS;
        private boolean deciding;

        /** Whether the last assignment allows all requests, because nothing limits them. */
        private boolean isOpen;
    }

    QuotaStream(
            HostedWeir weir,
            Selection selection,
            ServerCallStreamObserver<RateLimitQuotaResponse> observer,
            Set<QuotaStream> streams) {
        this.weir = weir;
        this.selection = selection;
        this.leases = new QuotaLeases(weir);
        this.observer = observer;
        this.streams = streams;
    }

    /** Requests the first report. A proxy that does not read its assignments sends no further ones, so that they do not fill the memory. */
    void start() {
        // Without a handler, a message to a proxy that has left is an exception.
        observer.setOnCancelHandler(this::end);
        observer.disableAutoRequest();
        observer.setOnReadyHandler(this::requestIfHeld);
        streams.add(this);
        observer.request(1);
    }

    private synchronized void requestIfHeld() {
        if (isHeld && !ended && observer.isReady()) {
            isHeld = false;
            observer.request(1);
        }
    }

    private long nanos() {
        return weir.clock().nanos();
    }

    @Override
    public void onNext(RateLimitQuotaUsageReports reports) {
        reported(reports).forEach(this::assign);
        synchronized (this) {
            isHeld = true;
        }
        requestIfHeld();
    }

    private synchronized Set<BucketId> reported(RateLimitQuotaUsageReports reports) {
        Set<BucketId> due = new LinkedHashSet<>();
        if (ended) {
            return due;
        }
        domain = reports.getDomain().isEmpty() ? domain : reports.getDomain();
        if (domain.isEmpty()) {
            end();
            observer.onError(Status.INVALID_ARGUMENT
                    .withDescription("the domain of the first report is empty")
                    .asRuntimeException());
            return due;
        }
        for (BucketQuotaUsage usage : reports.getBucketQuotaUsagesList()) {
            if (usage.getBucketId().getSerializedSize() > MAX_BUCKET_BYTES
                    || (buckets.size() >= MAX_BUCKETS && !buckets.containsKey(usage.getBucketId()))) {
                if (!isWarned) {
                    MESSAGES.log("WEIR-732", Selection.shown(domain), MAX_BUCKETS, MAX_BUCKET_BYTES);
                }
                isWarned = true;
                send(QuotaActions.abandoned(usage.getBucketId()));
                continue;
            }
            Known known = buckets.computeIfAbsent(usage.getBucketId(), first -> new Known());
            com.google.protobuf.Duration since = usage.getTimeElapsed();
            long elapsed = TimeUnit.SECONDS.toNanos(since.getSeconds()) + since.getNanos();
            known.quota.reported(usage.getNumRequestsAllowed(), usage.getNumRequestsDenied(), elapsed, nanos());
            if (known.isOpen) {
                known.quota.exempt();
            }
            if (elapsed > 0) {
                // The next report answers in time if one is late.
                known.leaseNanos = Math.max(SHORTEST_NANOS, elapsed >= LONGEST_NANOS / 2 ? LONGEST_NANOS : 2 * elapsed);
            }
            due.add(usage.getBucketId());
        }
        return due;
    }

    /**
     * Removes the buckets that the proxy no longer has.
     *
     * @param changed whether to send new assignments for the buckets whose policies have changed since their last one
     */
    void update(boolean changed) {
        List<QuotaBucket.Ended> over = new ArrayList<>();
        List<BucketId> due = new ArrayList<>();
        synchronized (this) {
            boolean compares = changed || isChanged;
            isChanged = false;
            Iterator<Map.Entry<BucketId, Known>> all = buckets.entrySet().iterator();
            while (all.hasNext()) {
                Map.Entry<BucketId, Known> each = all.next();
                Known known = each.getValue();
                if (known.deciding) {
                    isChanged |= compares;
                } else if (known.quota.isIdle(nanos())) {
                    over.addAll(known.quota.ended(nanos()));
                    all.remove();
                } else if (compares && known.selected != null && !known.selected.equals(select(each.getKey()))) {
                    due.add(each.getKey());
                }
            }
        }
        leases.settle(over);
        due.forEach(this::assign);
    }

    private Selection.Selected select(BucketId bucket) {
        RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
        bucket.getBucketMap()
                .forEach((key, value) -> descriptor.addEntries(
                        RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value)));
        return selection.of(domain, descriptor.build());
    }

    /** Settles the leases that have ended, and decides about a new one. */
    private void assign(BucketId bucket) {
        List<QuotaBucket.Ended> over;
        Selection.Selected selected;
        String endpoint;
        long demand;
        long lease;
        boolean decides;
        synchronized (this) {
            Known known = buckets.get(bucket);
            if (ended || known == null || known.deciding) {
                return;
            }
            selected = select(bucket);
            boolean isOpen = !weir.settings().enabled()
                    || selected.isUnlimited()
                    || selected.call().isExempt(weir);
            decides = !isOpen && !selected.policies().isEmpty();
            endpoint = selection.endpoint(domain, decides);
            lease = known.leaseNanos;
            demand = known.quota.demand(lease);
            over = known.quota.ended(nanos());
            known.selected = selected;
            known.deciding = decides;
            known.isOpen = isOpen;
            if (isOpen) {
                send(QuotaActions.all(bucket, lease));
            } else if (!decides) {
                buckets.remove(bucket);
                send(QuotaActions.abandoned(bucket));
            }
        }
        CompletionStage<?> settled = leases.settle(over);
        if (decides) {
            settled.thenCompose(done -> leases.decide(endpoint, selected, demand))
                    .whenComplete((granted, failure) -> decided(bucket, selected, lease, granted, failure));
        }
    }

    private synchronized void decided(
            BucketId bucket,
            Selection.Selected selected,
            long lease,
            QuotaLeases.@Nullable Granted granted,
            @Nullable Throwable failure) {
        Known known = buckets.get(bucket);
        if (known == null || ended) {
            // The permits stay charged, because nobody knows whether the proxy has got them.
            return;
        }
        known.deciding = false;
        if (granted == null) {
            MESSAGES.log(failure, "WEIR-725.quota", Selection.shown(domain));
            send(QuotaActions.none(bucket, lease));
            return;
        }
        Decision decision = granted.decision();
        if (!decision.allowed()) {
            send(QuotaActions.none(bucket, wait(decision, lease)));
            return;
        }
        long length = QuotaLeases.nanos(selected, decision, lease);
        known.quota.add(decision.receipt(), granted.requests(), nanos() + length);
        boolean isShadow =
                selected.policies().stream().allMatch(policy -> selected.call().isShadowUnder(policy, weir.engine()));
        send(
                isShadow
                        ? QuotaActions.all(bucket, length)
                        : QuotaActions.requests(bucket, granted.requests(), length, known.quota.next()));
    }

    private static long wait(Decision decision, long longest) {
        Duration wait = decision instanceof Decision.Rejected rejected
                ? rejected.retryAfter().orElse(Duration.ofNanos(longest))
                : Duration.ofNanos(longest);
        return wait.compareTo(Duration.ofNanos(longest)) >= 0 ? longest : Math.max(SHORTEST_NANOS, wait.toNanos());
    }

    private void send(BucketAction action) {
        if (!ended) {
            observer.onNext(
                    RateLimitQuotaResponse.newBuilder().addBucketAction(action).build());
        }
    }

    @Override
    public void onError(Throwable failure) {
        end();
    }

    /** Ends the stream, because the proxy ends it or the server stops. */
    @Override
    public synchronized void onCompleted() {
        if (!ended) {
            end();
            observer.onCompleted();
        }
    }

    private synchronized void end() {
        ended = true;
        buckets.clear();
        streams.remove(this);
    }
}
