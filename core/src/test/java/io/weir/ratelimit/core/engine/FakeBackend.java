// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/** A backend that allows all calls or fails as the test sets, and records its calls. */
public class FakeBackend implements RateLimitBackend, RemembersRejections {
    /** The calls: {@code policy storedKey cost}, joined by {@code " & "} for several charges. */
    public final List<String> calls = new ArrayList<>();

    /** The limits of refunds and resets. */
    public final List<PolicyLimits> changed = new ArrayList<>();

    /** The exception of the next calls, if set. */
    public RuntimeException failure;

    /** The result of the next asynchronous call, if set. */
    CompletionStage<Decision> stage;

    public boolean rejects;

    /** Whether an earlier rejection of all calls still holds. */
    public boolean hasRejected;

    public static BackendException down(BackendException.Reason reason) {
        return new BackendException(reason, "it is unavailable", null);
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public boolean isConfigured() {
        return false;
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        note(charges.stream().map(FakeBackend::text).collect(Collectors.joining(" & ")));
        List<ChargeResult> results = results(charges);
        return rejects
                ? new Decision.Rejected(results)
                : new Decision.Allowed(results, new NumberedReceipt(calls.size()));
    }

    @Override
    public Optional<Decision.Rejected> knownRejection(List<Charge> charges) {
        return hasRejected ? Optional.of(new Decision.Rejected(results(charges))) : Optional.empty();
    }

    @Override
    public Optional<Decision> acquireApproximately(List<Charge> charges) {
        return Optional.empty();
    }

    private record NumberedReceipt(int number) implements Receipt {
        @Override
        public String toString() {
            return "receipt " + number;
        }
    }

    private void note(String call) {
        calls.add(call);
        if (failure != null) {
            throw failure;
        }
    }

    private static String text(Charge charge) {
        return charge.policy().policy() + " " + charge.storedKey() + " " + charge.cost();
    }

    private List<ChargeResult> results(List<Charge> charges) {
        return charges.stream()
                .map(charge -> new ChargeResult(charge.policy().policy(), charge.shadow(), quotas(charge)))
                .toList();
    }

    private List<Quota> quotas(Charge charge) {
        String policy = charge.policy().policy();
        Limit limit = charge.policy().limits().get(0);
        long remaining = Math.max(0, limit.permits() - calls.size());
        return List.of(TestQuota.of(
                policy,
                policy,
                limit.permits(),
                limit.capacity(),
                limit.window(),
                remaining,
                rejects || hasRejected,
                rejects || hasRejected ? 1 : 0,
                1,
                1));
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        if (stage == null) {
            return CompletableFuture.completedStage(acquire(charges));
        }
        calls.add("async");
        return stage;
    }

    @Override
    public List<Quota> peek(List<Charge> charges) {
        charges.forEach(charge -> note("peek " + text(charge)));
        return charges.stream().flatMap(charge -> quotas(charge).stream()).toList();
    }

    @Override
    public CompletionStage<Void> refund(Receipt receipt) {
        note("refund " + receipt);
        return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<Void> refund(Charge charge) {
        changed.add(charge.policy());
        note("refund " + text(charge));
        return CompletableFuture.completedStage(null);
    }

    @Override
    public void reset(List<PolicyLimits> limits, String storedKey) {
        changed.addAll(limits);
        note("reset " + limits.get(0).policy() + " " + storedKey);
    }
}
