// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The rate limit service of Envoy. The descriptors of a request are calls, which are decided as one. */
final class RateLimitService extends RateLimitServiceGrpc.RateLimitServiceImplBase {
    /** The number of descriptors in a request, which bounds the work of one decision. */
    static final int MAX_DESCRIPTORS = 100;

    private static final int IS_NEGATIVE_HITS = 4;

    private final HostedWeir weir;
    private final Selection selection;
    private final boolean limitOverrides;
    private final boolean countsRejected;
    private final JointCalls calls;
    private final Answers answers;
    private final AtomicBoolean deadlineReported = new AtomicBoolean();

    RateLimitService(HostedWeir weir, EnvoyPlugin plugin) {
        this.weir = weir;
        this.selection = new Selection(() -> weir.policies().policies(), plugin::config);
        this.limitOverrides = plugin.settings().limitOverrides();
        this.countsRejected = plugin.settings().countsRejected();
        this.calls = new JointCalls(weir, plugin.settings());
        this.answers = new Answers(weir);
    }

    @Override
    public void shouldRateLimit(RateLimitRequest request, StreamObserver<RateLimitResponse> observer) {
        String invalid = problem(request);
        if (invalid != null) {
            selection.warn(
                    invalid, () -> MESSAGES.log("WEIR-725.invalid", Selection.shown(request.getDomain()), invalid));
            observer.onError(Status.INVALID_ARGUMENT.withDescription(invalid).asRuntimeException());
            return;
        }
        if (weir.settings().enabled()
                && request.getDescriptorsList().stream().anyMatch(RateLimitService::returnsHits)) {
            selection.warn("negative", () -> MESSAGES.log("WEIR-733", Selection.shown(request.getDomain())));
            observer.onError(Status.UNIMPLEMENTED
                    .withDescription("is_negative_hits is not supported")
                    .asRuntimeException());
            return;
        }
        checkDeadline(Context.current().getDeadline());
        List<JointCalls.Part> parts = parts(request);
        String endpoint = selection.endpoint(request.getDomain(), parts.stream().anyMatch(JointCalls.Part::isCharged));
        CompletionStage<List<JointCalls.Decided>> decision = calls.decide(endpoint, parts);
        decision.whenComplete((decided, failure) -> {
            if (isCancelled(observer)) {
                return;
            }
            if (decided == null) {
                MESSAGES.log(failure, "WEIR-725", Selection.shown(request.getDomain()));
                observer.onError(Status.INTERNAL.asRuntimeException());
                return;
            }
            if (!countsRejected) {
                decided.stream().filter(JointCalls.Decided::isRejected).forEach(this::checkCost);
            }
            observer.onNext(answers.response(decided, receipt(decided)));
            observer.onCompleted();
        });
    }

    /** Returns the receipt of an allowed request; empty if it is rejected or has spent nothing, and without receipts. */
    private Optional<String> receipt(List<JointCalls.Decided> decided) {
        boolean allowed = decided.stream().allMatch(each -> each.decision().allowed());
        return allowed ? weir.receipt(decided.stream().map(JointCalls.Decided::decision)) : Optional.empty();
    }

    private static boolean isCancelled(StreamObserver<RateLimitResponse> observer) {
        return observer instanceof ServerCallStreamObserver<RateLimitResponse> call && call.isCancelled();
    }

    private static @Nullable String problem(RateLimitRequest request) {
        if (request.getDomain().isEmpty()) {
            return "the domain is empty";
        }
        if (request.getDescriptorsCount() == 0) {
            return "the request has no descriptor";
        }
        return request.getDescriptorsCount() > MAX_DESCRIPTORS
                ? "the request has more than " + MAX_DESCRIPTORS + " descriptors"
                : null;
    }

    /** Tests whether a descriptor returns hits. The classes of the protocol do not have the field yet. */
    private static boolean returnsHits(RateLimitDescriptor descriptor) {
        return descriptor.getUnknownFields().getField(IS_NEGATIVE_HITS).getVarintList().stream()
                .anyMatch(value -> value != 0);
    }

    /** Reports costs that a limit never allows: nothing is spent, and the caller keeps its permits. A limit of 0 rejects on purpose. */
    private void checkCost(JointCalls.Decided rejected) {
        for (Binding.PolicyCost each : rejected.part().policies()) {
            String policy = each.policy().name();
            rejected.results().stream()
                    .flatMap(result -> result.quotas().stream())
                    .filter(quota -> quota.policy().equals(policy))
                    .filter(quota -> quota.capacity() > 0 && quota.capacity() < each.cost())
                    .findFirst()
                    .ifPresent(quota -> selection.warn(
                            "cost " + policy, () -> MESSAGES.log("WEIR-734", policy, each.cost(), quota.capacity())));
        }
    }

    /** Reports once that Envoy waits for a shorter time than a decision can take: it then allows the request without a limit. */
    private void checkDeadline(@Nullable Deadline deadline) {
        if (deadline == null || deadlineReported.get() || weir.backend().name().equals("local")) {
            return;
        }
        long left = deadline.timeRemaining(TimeUnit.MILLISECONDS);
        long longest = weir.settings().deadline().toMillis();
        if (left < longest && deadlineReported.compareAndSet(false, true)) {
            MESSAGES.log("WEIR-724", Math.max(0, left), longest);
        }
    }

    private List<JointCalls.Part> parts(RateLimitRequest request) {
        List<Selection.Selected> selected = new ArrayList<>();
        if (weir.settings().enabled()) {
            request.getDescriptorsList()
                    .forEach(descriptor -> selected.add(selection.of(request.getDomain(), descriptor)));
        }
        List<JointCalls.Part> parts = new ArrayList<>();
        for (int i = 0; i < request.getDescriptorsCount(); i++) {
            RateLimitDescriptor descriptor = request.getDescriptors(i);
            if (selected.isEmpty()) {
                parts.add(new JointCalls.Part(List.of(), DescriptorCall.of(descriptor), true, false));
                continue;
            }
            Selection.Selected own = selected.get(i);
            boolean replaced = selected.stream().anyMatch(own::isReplacedBy);
            if (!replaced) {
                checkLimit(request.getDomain(), own, descriptor);
            }
            parts.add(part(replaced ? own.without() : own, descriptor, request.getHitsAddend()));
        }
        return parts;
    }

    private JointCalls.Part part(Selection.Selected selected, RateLimitDescriptor descriptor, int hitsAddend) {
        Optional<Long> hits = hits(descriptor, Integer.toUnsignedLong(hitsAddend));
        List<Binding.PolicyCost> costs = new ArrayList<>();
        for (Policy policy : selected.policies()) {
            costs.add(new Binding.PolicyCost(
                    overridden(policy, descriptor),
                    hits.filter(cost -> cost > 0).orElse(policy.cost())));
        }
        boolean peeks = hits.filter(cost -> cost == 0).isPresent();
        return new JointCalls.Part(costs, selected.call(), selected.isUnlimited(), peeks);
    }

    /** Returns the permits that a descriptor spends; empty for the cost of the policy. Only a descriptor itself can spend none. */
    private static Optional<Long> hits(RateLimitDescriptor descriptor, long ofRequest) {
        if (descriptor.hasHitsAddend()) {
            long given = descriptor.getHitsAddend().getValue();
            return Optional.of(given < 0 ? Limit.MAX_PERMITS : Math.min(Limit.MAX_PERMITS, given));
        }
        return ofRequest == 0 ? Optional.empty() : Optional.of(ofRequest);
    }

    /** Reports once that the limit of a descriptor has no effect, because it is ignored, or because it replaces those of no policy. */
    private void checkLimit(String domain, Selection.Selected selected, RateLimitDescriptor descriptor) {
        if (!descriptor.hasLimit() || selected.isUnlimited()) {
            return;
        }
        boolean named =
                selected.rule().isPresent() || selected.call().entry("policy").isPresent();
        if (selected.policies().isEmpty() && !named) {
            String shown = Selection.shown(domain);
            selection.warn("limit " + shown, () -> MESSAGES.log("WEIR-726.none", shown));
        } else if (!selected.policies().isEmpty() && !limitOverrides) {
            selection.warn(
                    "limit",
                    () -> MESSAGES.log("WEIR-726", selected.policies().get(0).name()));
        }
    }

    /** Applies the limit that a descriptor brings, if that is allowed: otherwise a client of the server could raise any limit. */
    private Policy overridden(Policy policy, RateLimitDescriptor descriptor) {
        if (!descriptor.hasLimit() || !limitOverrides) {
            return policy;
        }
        return LimitUnits.limits(policy, descriptor.getLimit())
                .map(policy::withLimits)
                .orElse(policy);
    }
}
