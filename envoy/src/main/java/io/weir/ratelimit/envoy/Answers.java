// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.core.response.RejectionProblems;
import io.weir.ratelimit.runtime.HostedWeir;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The responses of the service, with the header fields and the body of a rejection by an application. */
final class Answers {
    /** The greatest number of 32 bits without a sign. */
    private static final long MAX = 0xFFFF_FFFFL;

    private static final int TOO_MANY_REQUESTS = 429;

    private final HostedWeir weir;
    private final List<QuotaView.Dialect> dialects;
    private final RejectionProblems problems;

    Answers(HostedWeir weir) {
        this.weir = weir;
        this.dialects = QuotaView.Dialect.named(weir.settings().headers());
        this.problems = new RejectionProblems(name -> weir.policies().policy(name));
    }

    /**
     * Returns the response.
     *
     * @param receipt the receipt that the proxy passes to the application
     */
    RateLimitResponse response(List<JointCalls.Decided> decided, Optional<String> receipt) {
        RateLimitResponse.Builder response = RateLimitResponse.newBuilder();
        boolean rejected = false;
        for (JointCalls.Decided each : decided) {
            response.addStatuses(status(each));
            rejected |= !each.decision().allowed();
        }
        response.setOverallCode(rejected ? Code.OVER_LIMIT : Code.OK);
        if (rejected) {
            addRejection(response, decided);
        } else {
            quotas(decided).ifPresent(quotas -> addQuotas(response, QuotaView.allowed(quotas, now())));
        }
        receipt.ifPresent(text -> response.addRequestHeadersToAdd(
                HeaderValue.newBuilder().setKey(HostedWeir.RECEIPT_FIELD).setValue(text)));
        return response.build();
    }

    private long now() {
        return QuotaView.epochMicros(0, weir.clock().now());
    }

    private DescriptorStatus status(JointCalls.Decided decided) {
        DescriptorStatus.Builder status =
                DescriptorStatus.newBuilder().setCode(decided.isRejected() ? Code.OVER_LIMIT : Code.OK);
        if (decided.part().unlimited()) {
            status.setLimitRemaining((int) MAX);
        }
        quota(decided).filter(quota -> !isHidden(quota.policy())).ifPresent(quota -> {
            status.setLimitRemaining((int) Math.min(MAX, quota.remaining()))
                    .setDurationUntilReset(duration(quota.resetAfter()));
            if (quota.kind() != Quota.Kind.CONCURRENCY) {
                status.setCurrentLimit(RateLimitResponse.RateLimit.newBuilder()
                        .setName(quota.name())
                        .setRequestsPerUnit((int) Math.min(MAX, quota.permits()))
                        .setUnit(LimitUnits.of(quota)));
            }
        });
        return status.build();
    }

    private static Duration duration(java.time.Duration time) {
        return Duration.newBuilder()
                .setSeconds(time.toSeconds())
                .setNanos(time.toNanosPart())
                .build();
    }

    /** Returns the quota that a status shows: one that rejects, else the closest to exhaustion, else one in shadow mode. */
    private static Optional<Quota> quota(JointCalls.Decided decided) {
        for (boolean shadow : new boolean[] {false, true}) {
            List<Quota> quotas = decided.results().stream()
                    .filter(result -> result.shadow() == shadow)
                    .flatMap(result -> result.quotas().stream())
                    .toList();
            Optional<Quota> rejecting = quotas.stream().filter(Quota::rejected).findFirst();
            if (!quotas.isEmpty()) {
                return rejecting.or(() -> Optional.of(Quota.closestToExhaustion(quotas)));
            }
        }
        return Optional.empty();
    }

    private boolean isHidden(String policy) {
        return weir.policies()
                .policy(policy)
                .filter(each -> each.response().disclosure() == Policy.Disclosure.MINIMAL)
                .isPresent();
    }

    /** Returns the quotas of the enforced policies; empty if there are none, or if a policy hides them. */
    private Optional<List<Quota>> quotas(List<JointCalls.Decided> decided) {
        List<Quota> quotas = results(decided).stream()
                .filter(result -> !result.shadow())
                .flatMap(result -> result.quotas().stream())
                .toList();
        return quotas.isEmpty() || quotas.stream().anyMatch(quota -> isHidden(quota.policy()))
                ? Optional.empty()
                : Optional.of(quotas);
    }

    private static List<ChargeResult> results(List<JointCalls.Decided> decided) {
        List<ChargeResult> results = new ArrayList<>();
        decided.forEach(each -> results.addAll(each.results()));
        return results.stream().distinct().toList();
    }

    private void addRejection(RateLimitResponse.Builder response, List<JointCalls.Decided> decided) {
        RejectionProblems.Problem problem;
        Optional<Decision.Rejected> rejected = rejection(decided);
        if (rejected.isPresent()) {
            Decision.Rejected rejection = rejected.get();
            boolean hidden = problems.isMinimal(rejection);
            problem = hidden ? RejectionProblems.generic(rejection) : problems.named(rejection);
            if (!hidden) {
                addQuotas(response, QuotaView.rejected(rejection, now()));
            }
        } else {
            problem = unavailable(decided);
        }
        problem.retryAfter().ifPresent(seconds -> add(response, "Retry-After", Long.toString(seconds)));
        problem.help().ifPresent(help -> add(response, "Link", "<" + help + ">; rel=\"help\""));
        add(response, "Cache-Control", "no-store");
        add(response, "Content-Type", "application/problem+json");
        response.setRawBody(ByteString.copyFromUtf8(problem.json()));
    }

    /** Returns the rejection by limits, over all descriptors. */
    private static Optional<Decision.Rejected> rejection(List<JointCalls.Decided> decided) {
        List<ChargeResult> results = results(decided);
        return results.stream().anyMatch(result -> !result.shadow() && result.rejected())
                ? Optional.of(new Decision.Rejected(results))
                : decided.stream()
                        .map(JointCalls.Decided::decision)
                        .filter(Decision.Rejected.class::isInstance)
                        .map(Decision.Rejected.class::cast)
                        .findFirst();
    }

    /** Returns the problem of a failure mode. The proxy has one status for all rejections. */
    private static RejectionProblems.Problem unavailable(List<JointCalls.Decided> decided) {
        Decision.Degraded degraded = (Decision.Degraded) decided.stream()
                .map(JointCalls.Decided::decision)
                .filter(decision -> !decision.allowed())
                .findFirst()
                .orElseThrow();
        RejectionProblems.Problem problem = RejectionProblems.unavailable(degraded.retryAfter());
        return new RejectionProblems.Problem(
                TOO_MANY_REQUESTS,
                "Too Many Requests",
                problem.type(),
                problem.error(),
                problem.detail(),
                problem.violated(),
                problem.retryAfter(),
                problem.help());
    }

    private void addQuotas(RateLimitResponse.Builder response, QuotaView view) {
        dialects.forEach(dialect -> dialect.write(view, (name, value) -> add(response, name, value)));
    }

    private static void add(RateLimitResponse.Builder response, String name, String value) {
        response.addResponseHeadersToAdd(HeaderValue.newBuilder().setKey(name).setValue(Objects.requireNonNull(value)));
    }
}
