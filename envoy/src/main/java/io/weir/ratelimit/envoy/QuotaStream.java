// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.BucketId;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse.BucketAction;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports.BucketQuotaUsage;
import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.engine.JointCall;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The stream of one proxy. Each report of a bucket is answered by a new lease. If the stream ends, its leases stay charged, because the
 * proxy can have used them.
 */
final class QuotaStream implements StreamObserver<RateLimitQuotaUsageReports> {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** The number of buckets of one stream, which bounds its memory. */
    static final int MAX_BUCKETS = 10_000;

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** A decision is tried with fewer permits this often, until the proxy gets what remains. */
    private static final int TRIES = 3;

    private final HostedWeir weir;
    private final Selection selection;
    private final StreamObserver<RateLimitQuotaResponse> observer;
    private final Set<QuotaStream> streams;
    private final Map<BucketId, Known> buckets = new HashMap<>();
    private String domain = "";
    private boolean ended;
    private boolean isFull;

    /** A bucket of the stream. */
    private static final class Known {
        private final QuotaBucket quota = new QuotaBucket();
        private Selection.@Nullable Selected selected;
        private long leaseNanos = FIRST_NANOS;
        private boolean deciding;
    }

    QuotaStream(
            HostedWeir weir,
            Selection selection,
            StreamObserver<RateLimitQuotaResponse> observer,
            Set<QuotaStream> streams) {
        this.weir = weir;
        this.selection = selection;
        this.observer = observer;
        this.streams = streams;
    }

    private long nanos() {
        return weir.clock().nanos();
    }

    @Override
    public void onNext(RateLimitQuotaUsageReports reports) {
        List<BucketId> due = new ArrayList<>();
        synchronized (this) {
            if (ended) {
                return;
            }
            domain = reports.getDomain().isEmpty() ? domain : reports.getDomain();
            if (domain.isEmpty()) {
                end();
                observer.onError(Status.INVALID_ARGUMENT
                        .withDescription("the domain of the first report is empty")
                        .asRuntimeException());
                return;
            }
            for (BucketQuotaUsage usage : reports.getBucketQuotaUsagesList()) {
                if (buckets.size() >= MAX_BUCKETS && !buckets.containsKey(usage.getBucketId())) {
                    if (!isFull) {
                        MESSAGES.log(LOG, "WEIR-732", domain, MAX_BUCKETS);
                    }
                    isFull = true;
                    send(QuotaLease.abandoned(usage.getBucketId()));
                    continue;
                }
                Known known = buckets.computeIfAbsent(usage.getBucketId(), first -> new Known());
                long elapsed = TimeUnit.SECONDS.toNanos(usage.getTimeElapsed().getSeconds())
                        + usage.getTimeElapsed().getNanos();
                known.quota.reported(
                        Math.max(0, usage.getNumRequestsAllowed()), Math.max(0, usage.getNumRequestsDenied()), elapsed);
                if (elapsed > 0) {
                    // The next report answers in time if one is late.
                    known.leaseNanos = Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, 2 * elapsed));
                }
                due.add(usage.getBucketId());
            }
        }
        due.forEach(this::assign);
    }

    /** Sends new assignments for the buckets whose policies have changed since their last one. */
    void push() {
        List<BucketId> changed = new ArrayList<>();
        synchronized (this) {
            buckets.forEach((bucket, known) -> {
                if (known.selected != null && !known.selected.equals(select(bucket))) {
                    changed.add(bucket);
                }
            });
        }
        changed.forEach(this::assign);
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
        long demand;
        long lease;
        synchronized (this) {
            Known known = buckets.get(bucket);
            if (ended || known == null || known.deciding) {
                return;
            }
            selected = select(bucket);
            known.selected = selected;
            over = known.quota.ended(nanos());
            lease = known.leaseNanos;
            demand = known.quota.demand(lease);
            if (!weir.settings().enabled() || selected.isUnlimited() || weir.bypasses(selected.call())) {
                send(QuotaLease.all(bucket, lease));
                return;
            }
            if (selected.policies().isEmpty()) {
                buckets.remove(bucket);
                send(QuotaLease.abandoned(bucket));
                return;
            }
            known.deciding = true;
        }
        settled(over, selected)
                .thenCompose(done -> decide(selected, demand, TRIES))
                .whenComplete((granted, failure) -> decided(bucket, selected, lease, granted));
    }

    private CompletableFuture<?> settled(List<QuotaBucket.Ended> leases, Selection.Selected selected) {
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (QuotaBucket.Ended each : leases) {
            for (Policy policy : selected.policies()) {
                CompletionStage<Void> settled = weir.engine()
                        .settlements()
                        .settleAsync(each.receipt(), policy.name(), cost(policy, each.used()));
                // Without the backend, the permits of the lease stay charged.
                all.add(settled.exceptionally(failure -> null).toCompletableFuture());
            }
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new));
    }

    private static long cost(Policy policy, long requests) {
        return requests > Limit.MAX_PERMITS / policy.cost() ? Limit.MAX_PERMITS : requests * policy.cost();
    }

    /** The decision about a number of requests. */
    private record Granted(Decision decision, long requests) {}

    private CompletionStage<Granted> decide(Selection.Selected selected, long requests, int tries) {
        List<Binding.PolicyCost> costs = selected.policies().stream()
                .map(policy -> new Binding.PolicyCost(policy, cost(policy, requests)))
                .toList();
        return weir.engine()
                .decideAsync(domain, List.of(new JointCall(costs, selected.call())), Runnable::run)
                .thenCompose(joint -> {
                    Decision decision = joint.decision();
                    long fewer = decision instanceof Decision.Rejected ? fewer(selected, decision, requests) : 0;
                    return fewer > 0 && tries > 1
                            ? decide(selected, fewer, tries - 1)
                            : CompletableFuture.completedFuture(new Granted(decision, requests));
                });
    }

    /** Returns the requests for which permits remain after a rejection; another proxy can spend them meanwhile. */
    private static long fewer(Selection.Selected selected, Decision rejected, long requests) {
        long fewer = requests / 2;
        for (Quota quota : rejected.quotas()) {
            for (Policy policy : selected.policies()) {
                if (policy.name().equals(quota.policy())) {
                    fewer = Math.min(fewer, quota.blocked() ? 0 : quota.remaining() / policy.cost());
                }
            }
        }
        return fewer;
    }

    private synchronized void decided(
            BucketId bucket, Selection.Selected selected, long lease, @Nullable Granted granted) {
        Known known = buckets.get(bucket);
        if (known == null || ended) {
            // The permits stay charged, because nobody knows whether the proxy has got them.
            return;
        }
        known.deciding = false;
        if (granted == null) {
            send(QuotaLease.none(bucket, lease));
            return;
        }
        Decision decision = granted.decision();
        if (!decision.allowed()) {
            send(QuotaLease.none(bucket, wait(decision, lease)));
            return;
        }
        long length = length(selected, decision, lease);
        known.quota.add(decision.receipt(), granted.requests(), nanos() + length);
        boolean shadow =
                selected.policies().stream().allMatch(policy -> policy.rollout().mode() == Policy.Mode.SHADOW);
        send(
                shadow
                        ? QuotaLease.all(bucket, length)
                        : QuotaLease.requests(bucket, granted.requests(), length, known.quota.next()));
    }

    private static long wait(Decision decision, long lease) {
        Duration wait = decision instanceof Decision.Rejected rejected
                ? rejected.retryAfter().orElse(Duration.ofNanos(lease))
                : Duration.ofNanos(lease);
        return Math.max(SHORTEST_NANOS, Math.min(lease, wait.compareTo(Duration.ofNanos(lease)) > 0 ? lease : wait.toNanos()));
    }

    /** Returns the length of a lease. It ends with the window in which its permits are charged, if that window ends at once. */
    private static long length(Selection.Selected selected, Decision decision, long lease) {
        long length = lease;
        for (Quota quota : decision.quotas()) {
            if (endsAtOnce(selected, quota) && quota.resetAfter().compareTo(Duration.ofNanos(length)) < 0) {
                length = quota.resetAfter().toNanos();
            }
        }
        return Math.max(1, length);
    }

    private static boolean endsAtOnce(Selection.Selected selected, Quota quota) {
        return quota.kind() == Quota.Kind.CALENDAR
                || selected.policies().stream()
                        .filter(policy -> policy.name().equals(quota.policy()))
                        .flatMap(policy -> policy.limits().limits().stream())
                        .anyMatch(limit -> limit.uses(Algorithm.FIXED_WINDOW));
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

    @Override
    public synchronized void onCompleted() {
        if (!ended) {
            end();
            observer.onCompleted();
        }
    }

    synchronized void end() {
        ended = true;
        buckets.clear();
        streams.remove(this);
    }
}
