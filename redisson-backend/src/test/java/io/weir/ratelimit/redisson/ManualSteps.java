// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Steps of a decision, with requests that a test completes, and records of the calls of the decision. */
class ManualSteps implements AcquireSteps {
    static final long NOW = 1_000_000_000L;
    static final RedisTime TIME = new RedisTime(NOW, 0, 0);

    final List<AcquireRequest> sent = new ArrayList<>();
    final List<AcquireRequest> cachedSpent = new ArrayList<>();
    final List<AcquireRequest> cachedRejected = new ArrayList<>();
    final List<AcquireRequest> cancelled = new ArrayList<>();
    final List<Charge> refunded = new ArrayList<>();

    /** The decision on enforced charges. */
    final CompletableFuture<Decision> enforcedDecision = new CompletableFuture<>();

    /** Why the decision on enforced charges was cancelled. */
    final List<BackendException> enforcedCancelled = new ArrayList<>();

    private final AcquireRequests requests = AcquireRequests.in("test");

    /** The clock, which the test sets. */
    long nanos;

    @Override
    public long nanoTime() {
        return nanos;
    }

    @Override
    public AcquireRequest create(List<Charge> charges, Operation operation) {
        return requests.create(charges, operation);
    }

    @Override
    public void send(AcquireRequest request) {
        sent.add(request);
    }

    @Override
    public void cancel(AcquireRequest request) {
        cancelled.add(request);
    }

    @Override
    public void cacheSpent(AcquireRequest request) {
        cachedSpent.add(request);
    }

    @Override
    public void cacheRejected(AcquireRequest request) {
        cachedRejected.add(request);
    }

    @Override
    public PendingCall<Decision> decide(List<Charge> enforced) {
        return new PendingCall<>() {
            @Override
            public CompletableFuture<Decision> completion() {
                return enforcedDecision;
            }

            @Override
            public Decision result() {
                return enforcedDecision.join();
            }

            @Override
            public long deadlineNanos() {
                throw new UnsupportedOperationException("the caller has the deadline");
            }

            @Override
            public void cancel(BackendException reason) {
                enforcedCancelled.add(reason);
            }
        };
    }

    @Override
    public void refund(BackendReceipt receipt) {
        receipt.claim().forEach(charged -> refunded.add(charged.charge()));
    }

    /** Returns the last request that was sent for a key. */
    AcquireRequest last(String storedKey) {
        return sent.stream()
                .filter(request -> request.charges.get(0).storedKey().equals(storedKey))
                .reduce((one, another) -> another)
                .orElseThrow();
    }

    /** Returns the keys of the requests that spend. */
    List<String> spending() {
        return sent.stream()
                .filter(request -> request.operation == Operation.SPEND)
                .map(request -> request.charges.get(0).storedKey())
                .toList();
    }

    /** Completes the last request for a key, each of whose limits has had some permits spent before. */
    void complete(String storedKey, long spentBefore) {
        AcquireRequest request = last(storedKey);
        boolean room = true;
        long wait = 0;
        List<ChargeStates> before = new ArrayList<>();
        List<ChargeStates> after = new ArrayList<>();
        for (Charge charge : request.charges) {
            List<LimitState> states = new ArrayList<>();
            List<LimitState> spent = new ArrayList<>();
            for (Limit limit : charge.policy().limits()) {
                LimitState untouched = LimitState.untouched(limit, NOW);
                LimitState state = spentBefore == 0 ? untouched : untouched.spend(limit, spentBefore, NOW);
                room = room
                        && state.retryAfterMicros(limit, charge.cost(), NOW)
                                <= LimitState.maxDelayMicros(limit, charge.maxWaitMicros());
                wait = Math.max(wait, state.retryAfterMicros(limit, charge.cost(), NOW));
                states.add(state);
                spent.add(state.spend(limit, charge.cost(), NOW));
            }
            before.add(new ChargeStates(charge, states));
            after.add(new ChargeStates(charge, spent));
        }
        boolean spent = request.operation == Operation.SPEND && room;
        AcquireResult result = new AcquireResult(spent ? after : before, room, spent, spent ? wait : 0, TIME);
        assertThat(request.complete(result))
                .as("the first result of " + storedKey)
                .isTrue();
    }

    void fail(String storedKey) {
        last(storedKey).completeExceptionally(new BackendException(Reason.TIMEOUT, "timed out", null));
    }
}
