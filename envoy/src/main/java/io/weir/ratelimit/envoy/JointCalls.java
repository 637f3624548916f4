// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.spi.BackendException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides the descriptors of a request, together or each on its own. No thread waits for a decision, and a bounded number of threads for
 * the quotas of descriptors that spend nothing.
 */
final class JointCalls {
    private static final int PEEK_THREADS = 32;
    private static final int WAITING_PEEKS = 1024;
    private static final int IDLE_SECONDS = 10;

    private final HostedWeir weir;
    private final boolean allOrNothing;
    private final boolean countsRejected;
    private final Executor threads;

    JointCalls(HostedWeir weir, EnvoySettings settings) {
        this(weir, settings, peekThreads());
    }

    /**
     * Creates the calls of a server.
     *
     * @param threads runs what waits for Redis
     */
    JointCalls(HostedWeir weir, EnvoySettings settings, Executor threads) {
        this.weir = weir;
        this.allOrNothing = settings.allOrNothing();
        this.countsRejected = settings.countsRejected();
        this.threads = threads;
    }

    private static Executor peekThreads() {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                PEEK_THREADS,
                PEEK_THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(WAITING_PEEKS),
                task -> {
                    Thread thread = new Thread(task, "weir-peek");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
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

        boolean isCharged() {
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
    CompletableFuture<List<Decided>> decide(String endpoint, List<Part> parts) {
        if (parts.stream().anyMatch(part -> part.call.isExempt(weir))) {
            bypassed(endpoint, parts);
            return CompletableFuture.completedFuture(
                    parts.stream().map(JointCalls::open).toList());
        }
        if (parts.stream().noneMatch(part -> part.peeks && !part.policies.isEmpty())) {
            return charge(endpoint, parts, Map.of());
        }
        return peekOnThreads(parts)
                .thenCompose(peeked -> allOrNothing && peeked.values().stream().anyMatch(Decided::isRejected)
                        ? rejected(endpoint, parts, peeked)
                        : charge(endpoint, parts, peeked));
    }

    /** Returns the decisions of a request that a descriptor rejects by a look. */
    private CompletableFuture<List<Decided>> rejected(String endpoint, List<Part> parts, Map<Part, Decided> peeked) {
        List<Decided> decided = parts.stream()
                .map(part -> peeked.getOrDefault(part, open(part)))
                .toList();
        boolean byLimit = peeked.values().stream().anyMatch(each -> each.decision instanceof Decision.Rejected);
        return byLimit
                ? counted(endpoint, parts.stream().filter(Part::isCharged), List.of())
                        .thenApply(done -> decided)
                : CompletableFuture.completedFuture(decided);
    }

    private static Decided open(Part part) {
        return new Decided(part, Decision.Allowed.UNLIMITED, List.of());
    }

    private void bypassed(String endpoint, List<Part> parts) {
        Map<String, Binding.PolicyCost> all = new HashMap<>();
        parts.forEach(
                part -> part.policies.forEach(each -> all.put(each.policy().name(), each)));
        if (!all.isEmpty()) {
            weir.engine().bypass(new Binding(endpoint, List.copyOf(all.values())));
        }
    }

    private CompletableFuture<List<Decided>> charge(String endpoint, List<Part> parts, Map<Part, Decided> peeked) {
        List<Part> charged = parts.stream().filter(Part::isCharged).toList();
        CompletableFuture<List<Decided>> decisions =
                allOrNothing ? together(endpoint, charged) : each(endpoint, charged);
        return decisions.thenCompose(decided -> counted(endpoint, decided)).thenApply(decided -> {
            List<Decided> all = new ArrayList<>();
            int next = 0;
            for (Part part : parts) {
                all.add(part.isCharged() ? decided.get(next++) : peeked.getOrDefault(part, open(part)));
            }
            return all;
        });
    }

    private CompletableFuture<List<Decided>> counted(String endpoint, List<Decided> decided) {
        List<Part> exhausted =
                decided.stream().filter(Decided::isRejected).map(Decided::part).toList();
        return counted(
                        endpoint,
                        decided.stream()
                                .filter(each -> each.decision instanceof Decision.Rejected)
                                .map(Decided::part),
                        exhausted)
                .thenApply(done -> decided);
    }

    /**
     * Charges the costs of descriptors of a rejected request if the server counts them. A cost that cannot be charged is lost.
     *
     * @param exhausted the descriptors that lack permits: not one of them remains for a cost of 1
     */
    private CompletableFuture<?> counted(String endpoint, Stream<Part> parts, List<Part> exhausted) {
        if (!countsRejected) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<?>[] counts = parts.flatMap(part -> part.policies.stream()
                        .filter(policy -> policy.cost() > 1 || !exhausted.contains(part))
                        .map(policy -> count(endpoint, part.call, policy)))
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(counts).handle((done, failure) -> null);
    }

    /** Charges one permit, if it remains, and settles it to the cost: only a settlement can spend more than remains. */
    private CompletableFuture<Void> count(String endpoint, DescriptorCall call, Binding.PolicyCost cost) {
        Binding.PolicyCost one = new Binding.PolicyCost(QuotaLeases.withoutPenalty(cost.policy()), 1);
        return weir.engine()
                .decideAsync(endpoint, List.of(new RateLimitEngine.JointCall(List.of(one), call)), Runnable::run)
                .thenCompose(joint ->
                        weir.engine().settlements().settleAsync(joint.decision().receipt(), cost.cost()));
    }

    private CompletableFuture<List<Decided>> together(String endpoint, List<Part> parts) {
        if (parts.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        List<RateLimitEngine.JointCall> calls = parts.stream()
                .map(part -> new RateLimitEngine.JointCall(part.policies, part.call))
                .toList();
        CompletableFuture<RateLimitEngine.JointDecision> decision =
                weir.engine().decideAsync(endpoint, calls, Runnable::run);
        return decision.thenApply(joint -> {
            List<Decided> decided = new ArrayList<>();
            for (int i = 0; i < parts.size(); i++) {
                decided.add(new Decided(
                        parts.get(i), joint.decision(), joint.results().get(i)));
            }
            return decided;
        });
    }

    private CompletableFuture<List<Decided>> each(String endpoint, List<Part> parts) {
        List<CompletableFuture<List<Decided>>> decisions =
                parts.stream().map(part -> together(endpoint, List.of(part))).toList();
        return CompletableFuture.allOf(decisions.toArray(CompletableFuture<?>[]::new))
                .thenApply(all -> decisions.stream()
                        .flatMap(decision -> decision.join().stream())
                        .toList());
    }

    /** Looks at quotas. The failure modes decide what no thread begins within the deadline. */
    private CompletableFuture<Map<Part, Decided>> peekOnThreads(List<Part> parts) {
        if (weir.backend().name().equals("local")) {
            return CompletableFuture.supplyAsync(() -> peek(parts, () -> false), Runnable::run);
        }
        long start = System.nanoTime();
        long deadline = weir.settings().deadline().toNanos();
        try {
            return CompletableFuture.supplyAsync(
                    () -> peek(parts, () -> System.nanoTime() - start > deadline), threads);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.completedFuture(peek(parts, () -> true));
        }
    }

    private Map<Part, Decided> peek(List<Part> parts, BooleanSupplier isLate) {
        return parts.stream()
                .filter(part -> part.peeks && !part.policies.isEmpty())
                .distinct()
                .collect(Collectors.toMap(part -> part, part -> peek(part, isLate)));
    }

    private Decided peek(Part part, BooleanSupplier isLate) {
        List<ChargeResult> results = new ArrayList<>();
        for (Binding.PolicyCost each : part.policies) {
            Policy policy = each.policy();
            boolean shadow = part.call.isShadowUnder(policy, weir.engine());
            try {
                if (isLate.getAsBoolean()) {
                    throw new RateLimitUnavailableException(BackendException.Reason.TIMEOUT.tag());
                }
                results.add(new ChargeResult(
                        policy.name(),
                        shadow,
                        weir.engine().keys().peek(policy, part.call).stream()
                                .filter(quota -> quota.kind() != Quota.Kind.CONCURRENCY)
                                .map(JointCalls::rejectedIfEmpty)
                                .toList()));
            } catch (RateLimitUnavailableException e) {
                if (!shadow && policy.onFailure() == FailureMode.CLOSED) {
                    Decision closed = new Decision.Degraded(FailureMode.CLOSED, false, e.reason(), e.retryAfter());
                    return new Decided(part, closed, List.of());
                }
            }
        }
        boolean rejected = results.stream().anyMatch(result -> !result.shadow() && result.rejected());
        return new Decided(
                part,
                rejected ? new Decision.Rejected(results) : new Decision.Allowed(results, Receipt.EMPTY),
                results);
    }

    /** Returns the quota as that of a rejected call if no permit remains. */
    private static Quota rejectedIfEmpty(Quota quota) {
        if (quota.remaining() > 0 && !quota.blocked()) {
            return quota;
        }
        Quota.Builder empty = quota.toBuilder().remaining(0);
        return (quota.capacity() == 0 ? empty.rejectedForEver() : empty.rejectedFor(quota.nextPermitAfter())).build();
    }
}
