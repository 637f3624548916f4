// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Collectors;

/** Decides the descriptors of a request, together or each on its own. No thread waits for a decision. */
final class JointCalls {
    private final HostedWeir weir;
    private final boolean allOrNothing;

    JointCalls(HostedWeir weir, boolean allOrNothing) {
        this.weir = weir;
        this.allOrNothing = allOrNothing;
    }

    /**
     * A descriptor to decide.
     *
     * @param policies the policies, each with its cost
     * @param unlimited whether no limit applies on purpose
     * @param peeks whether the descriptor spends nothing, and is rejected if no permit remains
     */
    record Part(List<Binding.PolicyCost> policies, DescriptorCall call, boolean unlimited, boolean peeks) {
        Part {
            policies = List.copyOf(policies);
        }

        private boolean isCharged() {
            return !policies.isEmpty() && !peeks;
        }
    }

    /**
     * A decided descriptor.
     *
     * @param decision the decision that it was part of
     * @param results its own results; empty if no limit was evaluated
     */
    record Decided(Part part, Decision decision, List<ChargeResult> results) {
        Decided {
            results = List.copyOf(results);
        }

        /** Returns whether a limit of this descriptor rejects the request, or its failure mode does. */
        boolean isRejected() {
            return decision instanceof Decision.Degraded degraded
                    ? !degraded.allowed() && !part.policies.isEmpty()
                    : results.stream().anyMatch(result -> !result.shadow() && result.rejected());
        }
    }

    /** Decides the descriptors of a request. Spends nothing if one of those that only look has no permit. */
    CompletableFuture<List<Decided>> decide(String domain, List<Part> parts) {
        if (parts.stream().anyMatch(part -> weir.bypasses(part.call))) {
            bypassed(domain, parts);
            return CompletableFuture.completedFuture(
                    parts.stream().map(JointCalls::open).toList());
        }
        if (parts.stream().noneMatch(part -> part.peeks && !part.policies.isEmpty())) {
            return charge(domain, parts, Map.of());
        }
        return CompletableFuture.supplyAsync(() -> peek(parts), ForkJoinPool.commonPool())
                .thenCompose(peeked -> allOrNothing && peeked.values().stream().anyMatch(Decided::isRejected)
                        ? CompletableFuture.completedFuture(parts.stream()
                                .map(part -> peeked.getOrDefault(part, open(part)))
                                .toList())
                        : charge(domain, parts, peeked));
    }

    private static Decided open(Part part) {
        return new Decided(part, Decision.Allowed.UNLIMITED, List.of());
    }

    private void bypassed(String domain, List<Part> parts) {
        Map<String, Binding.PolicyCost> all = new HashMap<>();
        parts.forEach(
                part -> part.policies.forEach(each -> all.put(each.policy().name(), each)));
        if (!all.isEmpty()) {
            weir.engine().bypass(new Binding(domain, List.copyOf(all.values())));
        }
    }

    private CompletableFuture<List<Decided>> charge(String domain, List<Part> parts, Map<Part, Decided> peeked) {
        List<Part> charged = parts.stream().filter(Part::isCharged).toList();
        CompletableFuture<List<Decided>> decisions = allOrNothing ? together(domain, charged) : each(domain, charged);
        return decisions.thenApply(decided -> {
            List<Decided> all = new ArrayList<>();
            int next = 0;
            for (Part part : parts) {
                all.add(part.isCharged() ? decided.get(next++) : peeked.getOrDefault(part, open(part)));
            }
            return all;
        });
    }

    private CompletableFuture<List<Decided>> together(String domain, List<Part> parts) {
        if (parts.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        List<RateLimitEngine.JointCall> calls = parts.stream()
                .map(part -> new RateLimitEngine.JointCall(part.policies, part.call))
                .toList();
        CompletableFuture<RateLimitEngine.JointDecision> decision =
                weir.engine().decideAsync(domain, calls, Runnable::run);
        return decision.thenApply(joint -> {
            List<Decided> decided = new ArrayList<>();
            for (int i = 0; i < parts.size(); i++) {
                decided.add(new Decided(
                        parts.get(i), joint.decision(), joint.results().get(i)));
            }
            return decided;
        });
    }

    private CompletableFuture<List<Decided>> each(String domain, List<Part> parts) {
        List<CompletableFuture<List<Decided>>> decisions =
                parts.stream().map(part -> together(domain, List.of(part))).toList();
        return CompletableFuture.allOf(decisions.toArray(CompletableFuture<?>[]::new))
                .thenApply(all -> decisions.stream()
                        .flatMap(decision -> decision.join().stream())
                        .toList());
    }

    private Map<Part, Decided> peek(List<Part> parts) {
        return parts.stream()
                .filter(part -> part.peeks && !part.policies.isEmpty())
                .distinct()
                .collect(Collectors.toMap(part -> part, this::peek));
    }

    private Decided peek(Part part) {
        List<ChargeResult> results = new ArrayList<>();
        boolean closed = false;
        for (Binding.PolicyCost each : part.policies) {
            Policy policy = each.policy();
            try {
                results.add(new ChargeResult(
                        policy.name(),
                        policy.rollout().mode() == Policy.Mode.SHADOW,
                        weir.engine().peek(policy, part.call).stream()
                                .map(JointCalls::rejectedIfEmpty)
                                .toList()));
            } catch (BackendException e) {
                closed |= policy.onFailure() == FailureMode.CLOSED;
            }
        }
        if (closed) {
            return new Decided(
                    part, new Decision.Degraded(FailureMode.CLOSED, false, "backend-error", Duration.ZERO), List.of());
        }
        boolean rejected = results.stream().anyMatch(result -> !result.shadow() && result.rejected());
        return new Decided(
                part,
                rejected ? new Decision.Rejected(results) : new Decision.Allowed(results, Receipt.EMPTY),
                results);
    }

    /** Returns the quota as that of a rejected call if no permit remains. */
    private static Quota rejectedIfEmpty(Quota quota) {
        return quota.remaining() > 0 && !quota.blocked()
                ? quota
                : Quota.builder(quota.policy(), quota.name())
                        .window(quota.permits(), quota.window())
                        .capacity(quota.capacity())
                        .remaining(0)
                        .rejectedFor(quota.nextPermitAfter())
                        .resetAfter(quota.resetAfter())
                        .nextPermitAfter(quota.nextPermitAfter())
                        .blockedFor(quota.blockedFor())
                        .build();
    }
}
