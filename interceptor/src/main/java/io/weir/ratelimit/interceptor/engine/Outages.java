// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.lang.System.Logger.Level;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Counts what was decided without the store, and says so once when the store stops answering and once when it answers again: a
 * store that is away must not flood the log as well.
 */
public final class Outages {
    /** A store that answers every other call is still away; so an outage ends after this much time without a failure. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Where only some keys fail, calls for others succeed in between. */
    private static final long QUIET_KEY_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final String backend;
    private final LongSupplier nanoTime;
    private final Audience<StoreListener> listeners;
    private final Queue<BackendStateChanged> changes = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean telling = new AtomicBoolean();
    private final Map<Reason, LongAdder> degraded = new EnumMap<>(Reason.class);

    private volatile boolean away;
    private long sinceNanos;
    private volatile long lastFailureNanos;
    private volatile long quietNanos = QUIET_NANOS;
    private volatile boolean awayForAll;
    private volatile long lastFailureForAllNanos;
    private volatile @Nullable Failure lastFailure;
    private Map<Reason, Long> degradedBefore = Map.of();

    private record Failure(Reason reason, long nanos) {}

    /**
     * A store that answers.
     *
     * @param backend the store's name
     * @param nanoTime a monotonic clock
     * @param listeners hear of failures and changes
     */
    public Outages(String backend, LongSupplier nanoTime, List<StoreListener> listeners) {
        this.backend = backend;
        this.nanoTime = nanoTime;
        this.listeners = new Audience<>(listeners);
        for (Reason reason : Reason.values()) {
            degraded.put(reason, new LongAdder());
        }
    }

    /** Whether a failure says nothing about keys other than the ones asked about. */
    static boolean isOfSomeKeys(BackendException failure) {
        return failure.reason() == Reason.FOREIGN_STATE || failure.reason() == Reason.FULL;
    }

    /**
     * How many decisions were taken without the store since the start.
     *
     * @return the count
     */
    public long degradedDecisions() {
        return degraded.values().stream().mapToLong(LongAdder::sum).sum();
    }

    /**
     * Whether the store is taken to be away.
     *
     * @return true from the first failure until it has answered and not failed for a second
     */
    public boolean away() {
        return away;
    }

    /** Whether the store is away for other calls too than those with keys of which it cannot tell anything. */
    boolean awayForAll() {
        return awayForAll;
    }

    /** Why the store failed when it was asked last and failed, such as {@code timeout}. */
    Optional<String> lastFailure() {
        return Optional.ofNullable(lastFailure).map(failure -> failure.reason.tag());
    }

    /** Seconds since then, 0 if it never failed. */
    long lastFailureSecondsAgo() {
        Failure failure = lastFailure;
        return failure == null ? 0 : TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - failure.nanos);
    }

    /** The store answered. */
    void answered() {
        // Not only while away: a thread that notes a failure can be overtaken by one that ends the outage.
        if (awayForAll && nanoTime.getAsLong() - lastFailureForAllNanos >= QUIET_NANOS) {
            awayForAll = false;
        }
        if (away && isQuiet()) {
            end();
        }
    }

    private boolean isQuiet() {
        return nanoTime.getAsLong() - lastFailureNanos >= quietNanos;
    }

    private synchronized void end() {
        if (away && isQuiet()) {
            away = false;
            awayForAll = false;
            changes.add(new BackendStateChanged(backend, true, ""));
            long seconds = TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - sinceNanos);
            LOG.log(
                    Level.INFO,
                    "WEIR-302 the rate limit store {0} answers again after {1} s; {2} decisions were taken without it{3}",
                    backend,
                    String.valueOf(seconds),
                    String.valueOf(sinceThen().values().stream()
                            .mapToLong(Long::longValue)
                            .sum()),
                    reasons(sinceThen()));
        }
    }

    /** The decisions without the store since it went away. */
    private Map<Reason, Long> sinceThen() {
        Map<Reason, Long> counts = new EnumMap<>(Reason.class);
        degraded.forEach((reason, count) -> counts.put(reason, count.sum() - degradedBefore.getOrDefault(reason, 0L)));
        return counts;
    }

    private static String reasons(Map<Reason, Long> counts) {
        return counts.entrySet().stream()
                .filter(count -> count.getValue() > 0)
                .map(count -> count.getKey().tag() + " " + count.getValue())
                .collect(Collectors.joining(", ", ": ", ""));
    }

    /** The store was to decide and could not. One that is not asked, because its breaker is open, has made no error. */
    void failed(BackendException failure) {
        notAsked(failure);
        if (failure.reason() != Reason.BREAKER_OPEN) {
            remember(failure);
            errorOf(failure);
        }
    }

    private void remember(BackendException failure) {
        lastFailure = new Failure(failure.reason(), lastFailureNanos);
    }

    /** A decision was taken without asking the store, because of a failure that came before. */
    void notAsked(BackendException failure) {
        away(failure);
        count(failure).increment();
    }

    private LongAdder count(BackendException failure) {
        return Objects.requireNonNull(degraded.get(failure.reason()));
    }

    /** Something that is no decision, and shows as well whether the store decides, failed. */
    void probeFailed(BackendException failure) {
        away(failure);
        if (failure.reason() != Reason.BREAKER_OPEN) {
            remember(failure);
        }
        errorOf(failure);
    }

    private void away(BackendException failure) {
        lastFailureNanos = nanoTime.getAsLong();
        quietNanos = isOfSomeKeys(failure) ? QUIET_KEY_NANOS : QUIET_NANOS;
        if (!away) {
            begin(failure);
        }
        if (!isOfSomeKeys(failure)) {
            lastFailureForAllNanos = lastFailureNanos;
            awayForAll = true;
        }
    }

    private synchronized void begin(BackendException failure) {
        if (!away) {
            away = true;
            sinceNanos = lastFailureNanos;
            degradedBefore = new EnumMap<>(Reason.class);
            degraded.forEach((reason, count) -> degradedBefore.put(reason, count.sum()));
            changes.add(new BackendStateChanged(backend, false, failure.reason().tag()));
            LOG.log(
                    Level.WARNING,
                    "WEIR-301 the rate limit store {0} does not decide ({1}: {2}); until it does, each policy''s on-failure decides",
                    backend,
                    failure.reason().tag(),
                    failure.getMessage());
        }
    }

    /** An operation that is no decision failed. */
    void errorOf(BackendException failure) {
        listeners.tell(StoreListener::onError, failure);
    }

    /**
     * Tells of changes in the order in which they came, whichever threads found them. A thread that comes while another one tells
     * leaves its change to that one and goes on.
     */
    void tellChanges() {
        while (!changes.isEmpty() && telling.compareAndSet(false, true)) {
            try {
                for (BackendStateChanged next = changes.poll(); next != null; next = changes.poll()) {
                    listeners.tell(StoreListener::onChange, next);
                }
            } finally {
                telling.set(false);
            }
        }
    }
}
