// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.interceptor.policy.SourceListener.Failure;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The limits of single keys that sources give in place of their policies'. Answers are remembered, of the keys that were seen
 * most; a source that is slow, fails or is asked too much costs a call at most the deadline, once per key.
 */
public final class Overrides {
    /** There are none. */
    public static final Overrides NONE = new Overrides(
            OverrideSources.NONE, Duration.ZERO, Duration.ZERO, () -> Runnable::run, () -> 0, (policy, failure) -> {});

    /** How many keys are remembered. */
    static final int MAX_KEYS = 10_000;

    /** How many look-ups run at once: a flood of new keys must not reach the source. */
    static final int MAX_LOOK_UPS = 16;

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final OverrideSources sources;
    private final long freshNanos;
    private final long deadlineNanos;
    private final Supplier<Executor> executor;
    private final LongSupplier nanoTime;
    private final SourceListener listener;
    private final Semaphore places = new Semaphore(MAX_LOOK_UPS);
    private final Set<String> said = ConcurrentHashMap.newKeySet();

    /** Its housekeeping is done by the callers: the common pool outlives the application. */
    private final Cache<Subject, KeyOverride> known =
            Caffeine.newBuilder().maximumSize(MAX_KEYS).executor(Runnable::run).build();

    private record Subject(String policy, String stored) {}

    /**
     * Overrides of which none is known yet.
     *
     * @param sources who knows them
     * @param fresh how long an answer is believed
     * @param deadline the longest that a call waits for the first answer
     * @param executor runs look-ups; asked on the thread of the call
     * @param nanoTime a monotonic clock
     * @param listener hears of look-ups that come to nothing
     */
    public Overrides(
            OverrideSources sources,
            Duration fresh,
            Duration deadline,
            Supplier<Executor> executor,
            LongSupplier nanoTime,
            SourceListener listener) {
        this.sources = sources;
        this.freshNanos = fresh.toNanos();
        this.deadlineNanos = deadline.toNanos();
        this.executor = executor;
        this.nanoTime = nanoTime;
        this.listener = listener;
    }

    /**
     * Whether there can be an override of a policy.
     *
     * @param policy the policy
     * @return false if no source is for it
     */
    public boolean areFor(Policy policy) {
        return sources.areFor(policy.name());
    }

    /**
     * What is known of a key. Does not wait.
     *
     * @param policy the policy
     * @param key the key
     * @param stored the key in its stored form
     * @return the limits of the last answer; empty if that was that there are none, or there was no answer yet
     */
    public Optional<PolicyLimits> of(Policy policy, Identity key, String stored) {
        return areFor(policy) ? override(policy, key, stored).limits(policy) : Optional.empty();
    }

    /**
     * What is remembered of a key of which only the stored form is known, so that nobody can be asked about it.
     *
     * @param policy the policy
     * @param stored the key in its stored form
     * @return the limits of the last answer; empty if that was that there are none, or none is remembered
     */
    public Optional<PolicyLimits> remembered(Policy policy, String stored) {
        KeyOverride override = known.getIfPresent(new Subject(policy.name(), stored));
        return override == null ? Optional.empty() : override.limits(policy);
    }

    /**
     * Waits for the first answer about a key, at most for the deadline since it was asked for.
     *
     * @param policy the policy
     * @param key the key
     * @param stored the key in its stored form
     */
    public void await(Policy policy, Identity key, String stored) {
        if (areFor(policy)) {
            override(policy, key, stored).await(policy);
        }
    }

    /**
     * As {@link #await}, without a thread.
     *
     * @param policy the policy
     * @param key the key
     * @param stored the key in its stored form
     * @param timer completes after so many microseconds, and can be cancelled
     * @return completed by the deadline, on any thread
     */
    public CompletableFuture<Void> awaitAsync(
            Policy policy, Identity key, String stored, LongFunction<CompletableFuture<Void>> timer) {
        return areFor(policy)
                ? override(policy, key, stored).awaitAsync(policy, timer)
                : CompletableFuture.completedFuture(null);
    }

    /** How many keys are remembered now. */
    long size() {
        known.cleanUp();
        return known.estimatedSize();
    }

    private KeyOverride override(Policy policy, Identity key, String stored) {
        KeyOverride override = known.get(new Subject(policy.name(), stored), first -> new KeyOverride());
        override.lookUpIfStale(policy, key);
        return override;
    }

    private void failed(Policy policy, Throwable reason) {
        listener.failed(policy.name(), Failure.ERROR);
        if (said.add(policy.name())) {
            LOG.log(
                    Level.WARNING,
                    "WEIR-316 the limits of a key of the policy " + policy.name()
                            + " cannot be looked up; the ones before hold, or the policy's own; said once",
                    reason);
        }
    }

    /** What is known of one key, which it does not hold: a client may have sent megabytes. At most one look-up is under way. */
    private final class KeyOverride {
        private final CompletableFuture<Void> first = new CompletableFuture<>();
        private final AtomicBoolean asking = new AtomicBoolean();
        private final AtomicReference<OverrideAnswer> answer = new AtomicReference<>(OverrideAnswer.NONE);
        private volatile long askedNanos = nanoTime.getAsLong();
        private volatile long answeredNanos;

        private Optional<PolicyLimits> limits(Policy policy) {
            OverrideAnswer told = Objects.requireNonNull(answer.get());
            if (told.isUnder(policy)) {
                return told.limits();
            }
            OverrideAnswer now = told.under(policy);
            answer.compareAndSet(told, now);
            return now.limits();
        }

        private boolean isStale() {
            return !first.isDone() || nanoTime.getAsLong() - answeredNanos >= freshNanos;
        }

        private void lookUpIfStale(Policy policy, Identity key) {
            if (!isStale() || !asking.compareAndSet(false, true)) {
                return;
            }
            if (!isStale() || !places.tryAcquire()) {
                asking.set(false);
                if (isStale()) {
                    listener.failed(policy.name(), Failure.BUSY);
                }
                return;
            }
            askedNanos = nanoTime.getAsLong();
            ClassLoader application = Thread.currentThread().getContextClassLoader();
            try {
                executor.get().execute(() -> lookUp(policy, key, application));
            } catch (RuntimeException e) {
                ended(policy, e);
            }
        }

        private void lookUp(Policy policy, Identity key, @Nullable ClassLoader application) {
            Thread thread = Thread.currentThread();
            ClassLoader before = thread.getContextClassLoader();
            thread.setContextClassLoader(application);
            Throwable failure = null;
            try {
                Optional<LimitOverride> told = sources.ask(policy.name(), key);
                answer.updateAndGet(last -> last.next(told, policy));
            } catch (Exception | LinkageError | AssertionError e) {
                failure = e;
            } finally {
                thread.setContextClassLoader(before);
                ended(policy, failure);
            }
        }

        private void ended(Policy policy, @Nullable Throwable failure) {
            if (failure != null) {
                failed(policy, failure);
            }
            answeredNanos = nanoTime.getAsLong();
            places.release();
            asking.set(false);
            first.complete(null);
        }

        private long leftNanos() {
            return first.isDone() || !asking.get() ? 0 : deadlineNanos - (nanoTime.getAsLong() - askedNanos);
        }

        private void await(Policy policy) {
            long left = leftNanos();
            if (left > 0) {
                try {
                    first.get(left, TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } catch (ExecutionException | TimeoutException e) {
                    listener.failed(policy.name(), Failure.TIMEOUT);
                }
            }
        }

        private CompletableFuture<Void> awaitAsync(Policy policy, LongFunction<CompletableFuture<Void>> timer) {
            CompletableFuture<Void> ready = new CompletableFuture<>();
            long left = leftNanos();
            if (left <= 0) {
                ready.complete(null);
                return ready;
            }
            CompletableFuture<Void> late = timer.apply(TimeUnit.NANOSECONDS.toMicros(left) + 1);
            CompletionStage<Void> deadline = late;
            deadline.thenRun(() -> {
                if (ready.complete(null)) {
                    listener.failed(policy.name(), Failure.TIMEOUT);
                }
            });
            CompletionStage<Void> answered = first;
            answered.thenRun(() -> {
                ready.complete(null);
                late.cancel(false);
            });
            return ready;
        }
    }
}
