// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Counts the rejections of keys in the backend, which blocks a key after many of them. The rejected call does not wait for the count.
 *
 * <p>An instance waits for at most one count of a key. Rejections that arrive meanwhile are counted together afterwards, so a flood of
 * rejections causes few calls of the backend. If the backend fails, these rejections are not counted.
 */
public final class Penalties implements RejectionListener {
    /** The number of keys whose count has no reply yet. Rejections of further keys are not counted. */
    static final int MAX_KEYS = 256;

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final RateLimitBackend backend;
    private final KeyMasker masker;
    private final Supplier<Executor> executor;
    private final GuardedListeners<Consumer<PenaltyImposed>> direct;
    private final GuardedListeners<Consumer<PenaltyImposed>> observers;
    private final KnownBlocks blocks;

    /** The rejections of each key that arrived while a count of the key has no reply yet. */
    private final ConcurrentHashMap<Key, Long> waiting = new ConcurrentHashMap<>();

    private record Key(String policy, String storedKey) {}

    /** The first of the rejections that are counted, with the executor that notifies the observers of its penalty. */
    private record Rejection(String endpoint, Policy policy, PenaltyRule rule, Key key, Supplier<Executor> executor) {
        Rejection with(Supplier<Executor> next) {
            return new Rejection(endpoint, policy, rule, key, next);
        }
    }

    /**
     * Creates the penalties of an instance. The executor of the observers is read on the thread of a decision.
     *
     * @param direct receive the penalties on any thread, and do not block it
     * @param observers receive the penalties on a thread of the executor
     */
    public Penalties(
            RateLimitBackend backend,
            KeyMasker masker,
            Supplier<Executor> executor,
            List<Consumer<PenaltyImposed>> direct,
            List<Consumer<PenaltyImposed>> observers,
            KnownBlocks blocks) {
        this.backend = backend;
        this.masker = masker;
        this.executor = executor;
        this.direct = new GuardedListeners<>(direct);
        this.observers = new GuardedListeners<>(observers);
        this.blocks = blocks;
    }

    /**
     * Counts a rejection for each enforced policy whose limits rejected the call. A block is not counted, nor is a rejection by slots only:
     * nobody knows when a slot is free, so a client that waits as required can still be rejected often. A rejection by approximate counts
     * is not counted either, because the key may have spent nothing.
     */
    @Override
    public void rejected(Binding binding, List<Charge> charges, Decision.Rejected decision) {
        if (!binding.penalizes()) {
            return;
        }
        DecisionEvent event = new DecisionEvent(binding.endpoint(), charges, decision, 0);
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            Policy policy =
                    charge.shadow() ? null : binding.policy(charge.policy().policy());
            if (policy != null && policy.penalty().isPresent() && exceedsALimit(charge, event.quotasOf(i))) {
                count(new Rejection(
                        binding.endpoint(),
                        policy,
                        policy.penalty().get(),
                        new Key(policy.name(), charge.storedKey()),
                        executor));
            }
        }
    }

    private boolean exceedsALimit(Charge charge, List<Quota> quotas) {
        boolean rejected = false;
        for (int i = 0; i < quotas.size(); i++) {
            Quota quota = quotas.get(i);
            if (quota.blocked()) {
                return false;
            }
            rejected |= quota.rejected()
                    && quota.kind() != Quota.Kind.CONCURRENCY
                    && !QuotaThresholds.isApproximate(backend, charge, i);
        }
        return rejected;
    }

    private void count(Rejection rejection) {
        if (waiting.size() >= MAX_KEYS && !waiting.containsKey(rejection.key)) {
            return;
        }
        long[] before = {-1};
        waiting.compute(rejection.key, (key, count) -> {
            before[0] = count == null ? -1 : count;
            return before[0] + 1;
        });
        if (before[0] < 0) {
            send(rejection, 1);
        }
    }

    /** Takes the rejections that wait; 0 if none does, so that the next rejection starts a count. */
    private long take(Key key) {
        long[] taken = {0};
        waiting.computeIfPresent(key, (any, count) -> {
            taken[0] = count;
            return count == 0 ? null : 0L;
        });
        return taken[0];
    }

    /** Sends counts until no rejection waits, or a count has no reply yet. */
    private void send(Rejection rejection, long rejections) {
        for (long next = rejections; next > 0; next = take(rejection.key)) {
            CompletableFuture<Optional<BlocksKeys.Penalty>> counted =
                    start(rejection, next).exceptionally(this::failed).toCompletableFuture();
            if (!counted.isDone()) {
                Rejection sent =
                        observers.isEmpty() ? rejection : rejection.with(QuotaThresholds.taken(rejection.executor));
                CompletableFuture<Void> unused = counted.thenAccept(penalty -> {
                    penalty.ifPresent(imposed -> notify(sent, imposed));
                    send(sent, take(sent.key));
                });
                return;
            }
            counted.join().ifPresent(imposed -> notify(rejection, imposed));
        }
    }

    private CompletionStage<Optional<BlocksKeys.Penalty>> start(Rejection rejection, long rejections) {
        try {
            return backend.capability(BlocksKeys.class)
                    .map(blocking -> blocking.countRejections(
                            rejection.policy.limits(), rejection.key.storedKey, rejections, rejection.rule))
                    .orElseGet(() -> CompletableFuture.completedStage(Optional.empty()));
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private Optional<BlocksKeys.Penalty> failed(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        LOG.log(Level.DEBUG, "Rejections were not counted: {0}", cause.toString());
        return Optional.empty();
    }

    private void notify(Rejection rejection, BlocksKeys.Penalty penalty) {
        blocks.penalized(rejection.policy.name(), rejection.key.storedKey, penalty.duration(), penalty.number());
        PenaltyImposed event = new PenaltyImposed(
                rejection.endpoint,
                rejection.policy.name(),
                masker.of(rejection.key.storedKey),
                penalty.duration(),
                penalty.number());
        direct.notifyEach(Consumer::accept, event);
        if (observers.isEmpty()) {
            return;
        }
        try {
            rejection.executor.get().execute(() -> observers.notifyEach(Consumer::accept, event));
        } catch (RuntimeException e) { // the pool is full, or the application ends
            LOG.log(Level.DEBUG, "The observers of a penalty were not notified: {0}", e.toString());
        }
    }
}
