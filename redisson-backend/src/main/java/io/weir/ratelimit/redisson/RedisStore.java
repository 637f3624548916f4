// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of limits on Redis. All decisions take one path: the rejection cache, the breaker, and then one request, several requests, or
 * requests with shadow charges. A blocking call awaits that path until its deadline; for an asynchronous one the timeout queue ends it.
 */
final class RedisStore implements AutoCloseable {
    private final RedisClient redis;
    private final RedisKeys keys;
    private final BlockingAwait await;
    private final TimeoutQueue timeouts;
    private final RejectionCache cache;
    private final KnownRejections known;
    private final RequestFactory requests;
    private final Batcher batcher;
    private final StateUpdates updates;
    private final SlotCalls slots;
    private final Breaker breaker;
    private final Prober prober;

    /** A charge of the latest call that the open breaker has failed, if there is one. */
    private volatile @Nullable Charge rejected;

    private final Function<AcquireRequest, Decision> toDecision = this::decision;

    /** Creates a store with the clock of the scripts, and the timer of probes and of repeated releases. */
    RedisStore(
            RedisClient redis,
            RedisKeys keys,
            Duration deadline,
            TimeSource time,
            RejectionCache cache,
            BackendListener listener,
            Breaker breaker,
            Timer timer) {
        this.redis = redis;
        this.keys = keys;
        this.await = new BlockingAwait(deadline);
        this.timeouts = new TimeoutQueue(deadline);
        this.cache = cache;
        this.known = new KnownRejections(cache, keys);
        ScriptSender scripts = new ScriptSender(redis, time, RedisClock.ofProcess());
        this.slots = SlotCalls.of(scripts, keys, deadline, breaker, timer);
        this.batcher = new Batcher(scripts, listener, breaker, slots::releaseUnanswered, System::nanoTime);
        this.requests = new RequestFactory(keys, cache, slots::releaseLate);
        this.updates = new StateUpdates(
                new RefundSender(scripts, keys, deadline, cache, slots), scripts, keys, cache, breaker, await);
        this.breaker = breaker;
        this.prober = new Prober(breaker, timer, this::probe);
        redis.onFirstConnection(breaker::connected);
    }

    /** Returns the longest wait of a call. */
    Duration deadline() {
        return await.deadline();
    }

    /** Returns the updates of state that are not decisions. */
    StateUpdates updates() {
        return updates;
    }

    /** Returns the calls about slots that are held. */
    SlotCalls slots() {
        return slots;
    }

    /** Decides on charges and spends them if all limits have room. Waits until the deadline at most. */
    Decision acquire(List<Charge> charges) {
        return acquire(charges, System.nanoTime());
    }

    /** Decides for a call that began at an instant of {@link System#nanoTime}. */
    Decision acquire(List<Charge> charges, long startNanos) {
        List<String> storedKeys = keys.of(charges);
        Optional<Decision.Rejected> cached = cached(charges, storedKeys);
        if (cached.isPresent()) {
            return cached.get();
        }
        long deadlineNanos = startNanos + await.deadline().toNanos();
        await.awaitConnection(redis, deadlineNanos);
        return await(guarded(charges.get(0), () -> decide(charges, storedKeys, deadlineNanos)));
    }

    /** Decides as {@link #acquire} does, without waiting. */
    CompletableFuture<Decision> acquireAsync(List<Charge> charges) {
        List<String> storedKeys = keys.of(charges);
        Optional<Decision.Rejected> cached = cached(charges, storedKeys);
        if (cached.isPresent()) {
            return CompletableFuture.completedFuture(cached.get());
        }
        if (!redis.isReady()) {
            return CompletableFuture.failedFuture(redis.notReady());
        }
        long deadlineNanos = await.deadlineFromNow();
        return watched(guarded(charges.get(0), () -> decide(charges, storedKeys, deadlineNanos)));
    }

    /** Returns the quotas of charges without spending them, by one request per slot. Waits until the deadline at most. */
    List<Quota> peek(List<Charge> charges) {
        long deadlineNanos = await.deadlineFromNow();
        await.awaitConnection(redis, deadlineNanos);
        return await(guarded(
                charges.get(0),
                () -> charges.size() == 1
                        ? send(
                                requests.create(charges, Operation.PEEK, deadlineNanos),
                                request -> request.join().quotas())
                        : new CrossSlotPeek(
                                        charges,
                                        this::slot,
                                        new StoreSteps(this, requests, deadlineNanos),
                                        deadlineNanos)
                                .start()));
    }

    /**
     * Returns a rejection from memory, of any age while Redis fails: a call that it has rejected until a later time does not wait for it.
     */
    private Optional<Decision.Rejected> cached(List<Charge> charges, List<String> storedKeys) {
        return known.find(charges, storedKeys, breaker.avoidsCalls());
    }

    /** Returns the rejection of a call on which Redis does not decide, if Redis has rejected it until a later time. */
    Optional<Decision.Rejected> knownRejection(List<Charge> charges) {
        return known.find(charges, keys.of(charges), true);
    }

    /** Starts a call. Throws a {@link BackendException} if the breaker is open. */
    private <T> PendingCall<T> guarded(Charge charge, Supplier<PendingCall<T>> start) {
        try {
            breaker.requireClosed();
        } catch (BackendException e) {
            rejected = charge;
            throw e;
        }
        return start.get();
    }

    /** Sends a probe: a request in the slot of a call that was not sent, else of one that failed. */
    private CompletableFuture<?> probe() {
        Charge charge = rejected;
        AcquireRequest request =
                requests.createProbe(charge != null ? charge : batcher.lastFailed(), await.deadlineFromNow());
        timeouts.watch(send(request, AcquireRequest::join));
        return request;
    }

    /** Starts a decision on enforced charges, as a step of a decision that has passed the breaker. */
    PendingCall<Decision> decide(List<Charge> enforced, long deadlineNanos) {
        return decide(enforced, keys.of(enforced), deadlineNanos);
    }

    /** Starts a decision. This is the only place that chooses between its forms. */
    private PendingCall<Decision> decide(List<Charge> charges, List<String> storedKeys, long deadlineNanos) {
        if (ShadowAcquire.hasShadow(charges)) {
            return new ShadowAcquire(charges, new StoreSteps(this, requests, deadlineNanos), deadlineNanos).start();
        }
        if (!redis.isOneSlot(storedKeys)) {
            return new CrossSlotAcquire(
                            charges, this::slot, new StoreSteps(this, requests, deadlineNanos), deadlineNanos)
                    .start();
        }
        return send(requests.create(charges, storedKeys, Operation.SPEND, deadlineNanos), toDecision);
    }

    private <T> PendingCall<T> send(AcquireRequest request, Function<AcquireRequest, T> toResult) {
        enqueue(request);
        return new SingleSlotCall<>(request, batcher, toResult);
    }

    void enqueue(AcquireRequest request) {
        batcher.enqueue(request, redis.slot(request.keys.get(0)));
    }

    void cancel(AcquireRequest request) {
        batcher.cancel(request);
    }

    private <T> T await(PendingCall<T> call) {
        try {
            return await.await(call);
        } finally {
            breaker.reportOutcomes();
        }
    }

    private <T> CompletableFuture<T> watched(PendingCall<T> call) {
        timeouts.watch(call);
        return call.completion().thenApply(done -> call.result());
    }

    private int slot(Charge charge) {
        return redis.slot(keys.of(charge));
    }

    /** Returns the decision of a completed request, and updates the rejection cache with it. */
    private Decision decision(AcquireRequest request) {
        Decision decision = request.join().decision();
        if (!(decision instanceof Decision.Rejected rejected)) {
            cacheSpent(request);
        } else if (RejectionCache.isWorthCaching(rejected)) {
            cacheRejected(request);
        }
        return decision;
    }

    void cacheSpent(AcquireRequest request) {
        cache.remove(request.keys, request.join().time());
    }

    void cacheRejected(AcquireRequest request) {
        AcquireResult result = request.join();
        cache.put(result.charges(), request.keys, result.time(), request.cacheVersion);
    }

    /**
     * Acquires permits for a lease. A request that is sent is not cancelled at its deadline: its result is used whenever it arrives,
     * since permits that were spent must not get lost.
     */
    CompletableFuture<AcquireResult> acquireForLease(Charge charge) {
        if (breaker.rejectsCalls()) {
            return CompletableFuture.failedFuture(breaker.openException());
        }
        return sendUncancelled(charge, Operation.SPEND);
    }

    /** Tests whether a key is blocked, without waiting; false if that is unknown. */
    CompletableFuture<Boolean> isBlocked(Charge charge) {
        if (breaker.rejectsCalls()) {
            return CompletableFuture.completedFuture(false);
        }
        return sendUncancelled(charge, Operation.PEEK)
                .handle((result, failure) -> result != null
                        && result.charges().get(0).states().get(0).isBlocked());
    }

    private AcquireRequest sendUncancelled(Charge charge, Operation operation) {
        AcquireRequest request = requests.create(List.of(charge), operation, await.deadlineFromNow());
        enqueue(request);
        timeouts.watch(new LeaseCall(request, batcher));
        return request;
    }

    RateLimitBackend.Status status() {
        return new RateLimitBackend.Status(redis.isReady(), breaker.rejectsCalls(), breaker.probeAfter());
    }

    /** Closes the client, unless it is the application's. */
    @Override
    public void close() {
        prober.close();
        slots.close();
        redis.close();
    }
}
