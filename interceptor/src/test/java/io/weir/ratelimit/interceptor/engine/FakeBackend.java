// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/** A store that admits everything, or fails as told, and remembers what it was asked. */
class FakeBackend implements RateLimitBackend {
    /** What was asked: {@code policy identity cost}, for several charges of one call joined by {@code " & "}. */
    final List<String> asked = new ArrayList<>();

    /** The limits that were given back to or reset. */
    final List<PolicyLimits> changed = new ArrayList<>();

    /** Thrown by the next calls, if set. */
    RuntimeException failure;

    /** Answered by the next asynchronous call, if set. */
    CompletionStage<Decision> stage;

    boolean refuses;

    static BackendException down(BackendException.Reason reason) {
        return new BackendException(reason, "it is away", null);
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public boolean configured() {
        return false;
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        note(charges.stream().map(FakeBackend::text).collect(Collectors.joining(" & ")));
        List<Quota> quotas =
                charges.stream().flatMap(charge -> quotas(charge).stream()).toList();
        return refuses
                ? new Decision.Rejected(quotas)
                : new Decision.Allowed(quotas, new NumberedReceipt(asked.size()));
    }

    private record NumberedReceipt(int number) implements Receipt {
        @Override
        public String toString() {
            return "receipt " + number;
        }
    }

    private void note(String what) {
        asked.add(what);
        if (failure != null) {
            throw failure;
        }
    }

    private static String text(Charge charge) {
        return charge.policy().policy() + " " + charge.identity() + " " + charge.cost();
    }

    private List<Quota> quotas(Charge charge) {
        String policy = charge.policy().policy();
        Limit limit = charge.policy().limits().get(0);
        long remaining = Math.max(0, limit.permits() - asked.size());
        return List.of(new Quota(
                policy,
                policy,
                limit.permits(),
                limit.capacity(),
                limit.window(),
                remaining,
                refuses,
                refuses ? 1 : 0,
                1,
                1));
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        if (stage == null) {
            return CompletableFuture.completedStage(acquire(charges));
        }
        asked.add("async");
        return stage;
    }

    @Override
    public List<Quota> peek(Charge charge) {
        note("peek " + text(charge));
        return quotas(charge);
    }

    @Override
    public void giveBack(Receipt receipt) {
        note("give back " + receipt);
    }

    @Override
    public void giveBack(Charge charge) {
        changed.add(charge.policy());
        note("give back " + text(charge));
    }

    @Override
    public void reset(PolicyLimits policy, String identity) {
        changed.add(policy);
        note("reset " + policy.policy() + " " + identity);
    }
}
