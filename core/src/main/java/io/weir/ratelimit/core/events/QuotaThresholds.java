// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.local.DisabledBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The report of used shares of limits, once per key, limit, share and period over all instances.
 *
 * <p>Each instance detects a share by its own decisions and settlements, and remembers it until the period ends. Before it notifies the
 * observers, it spends a {@linkplain ThresholdMark mark} in the backend, on a thread of the executor. The instance that spends the mark
 * notifies. If the backend fails to decide on the mark, the instance notifies as well, because a repeated event is better than a lost one.
 */
public final class QuotaThresholds {
    /** The number of reported shares that are remembered. A forgotten one costs a call of the backend. */
    private static final int MAX_KNOWN = 100_000;

    /**
     * The characters of the keys that are remembered for settlements. Without its key, a settlement leaves the report to a later decision.
     */
    private static final long MAX_KEY_CHARACTERS = 4_000_000;

    /** The characters that the memory of an entry without a key is worth. */
    private static final int ENTRY_CHARACTERS = 100;

    private static final Duration LONGEST_CALL = Duration.ofHours(1);

    /** The number of reports that wait for a thread. A later decision repeats a report beyond it. */
    static final int MAX_PENDING = 1_000;

    /** The report of an application without observers. */
    public static final QuotaThresholds NONE = new QuotaThresholds();

    private final GuardedListeners<Consumer<QuotaThresholdReached>> observers;
    private final Cache<ThresholdMark.Place, Long> periodEnds =
            Caffeine.newBuilder().maximumSize(MAX_KNOWN).executor(Runnable::run).build();
    private final Cache<Place, Caller> callers = Caffeine.newBuilder()
            .maximumWeight(MAX_KEY_CHARACTERS)
            .weigher((Place place, Caller caller) -> ENTRY_CHARACTERS + characters(caller.key))
            .expireAfterWrite(LONGEST_CALL)
            .executor(Runnable::run)
            .build();
    private final AtomicInteger pending = new AtomicInteger();
    private final RateLimitBackend backend;
    private final IdentityEncoder encoder;
    private final KeyMasker masker;
    private final Supplier<Executor> executor;
    private final LongSupplier clockMicros;

    private record Due(ThresholdMark mark, QuotaThresholdReached event) {}

    /** A key under a policy, as a charge names it. */
    private record Place(String policy, String storedKey) {}

    /** The latest call of a key under a policy. */
    private record Caller(String endpoint, Policy policy, Identity key) {}

    private static int characters(Identity key) {
        return key.parts().stream()
                .mapToInt(part -> part.value() == null ? 0 : part.value().length())
                .sum();
    }

    /**
     * Creates the report of an instance, which spends marks in the shared backend. The executor of the observers is read on the thread of a
     * decision.
     *
     * @param clockMicros the time of day in microseconds. The clocks of the instances may differ by less than a quarter of a window
     */
    public QuotaThresholds(
            RateLimitBackend backend,
            IdentityEncoder encoder,
            KeyMasker masker,
            Supplier<Executor> executor,
            LongSupplier clockMicros,
            List<Consumer<QuotaThresholdReached>> observers) {
        this.observers = new GuardedListeners<>(observers);
        this.backend = backend;
        this.encoder = encoder;
        this.masker = masker;
        this.executor = executor;
        this.clockMicros = clockMicros;
    }

    /** Creates a report without observers. */
    private QuotaThresholds() {
        this(
                new DisabledBackend(),
                new IdentityEncoder(Optional.empty()),
                new KeyMasker(Optional.empty()),
                () -> Runnable::run,
                () -> 0,
                List.of());
    }

    /** Reports the shares that a decision of the backend shows, except of policies in shadow mode. Only unknown keys are read. */
    public void decided(Binding binding, TimedDecision timed, Function<Policy, Identity> keys) {
        if (observers.isEmpty() || timed.failure() != null) {
            return;
        }
        DecisionEvent event = new DecisionEvent(binding.endpoint(), timed.charges(), timed.decision(), timed.nanos());
        List<Due> due = new ArrayList<>(0);
        for (int i = 0; i < event.charges().size(); i++) {
            Charge charge = event.charges().get(i);
            Policy policy =
                    charge.shadow() ? null : binding.policy(charge.policy().policy());
            if (policy != null && !policy.notifyAt().isEmpty()) {
                Caller caller = caller(binding.endpoint(), policy, charge, keys);
                if (caller != null) {
                    addDue(due, caller, charge, event.quotasOf(i));
                }
            }
        }
        if (!due.isEmpty() && !submit(executor, () -> due.forEach(this::report))) {
            due.forEach(each -> periodEnds.invalidate(each.mark.place()));
        }
    }

    /** Returns the caller of a charge, null if its key is not that of the charge. */
    private @Nullable Caller caller(String endpoint, Policy policy, Charge charge, Function<Policy, Identity> keys) {
        Place place = new Place(policy.name(), charge.storedKey());
        Caller known = callers.getIfPresent(place);
        if (known != null && known.endpoint.equals(endpoint) && known.policy.equals(policy)) {
            return known;
        }
        Identity key = known != null ? known.key : keys.apply(policy);
        // A resolver of the application can fail now. A later decision repeats the report.
        if (known == null && !encoder.encode(key).equals(charge.storedKey())) {
            return null;
        }
        Caller current = new Caller(endpoint, policy, key);
        callers.put(place, current);
        return current;
    }

    /**
     * Returns the executor of the reports of a settlement. The thread that the backend completes the settlement on has no context of the
     * application.
     */
    public Supplier<Executor> executorOfThisThread() {
        return observers.isEmpty() ? executor : taken(executor);
    }

    /** Returns the executor of the reports of a settlement, as that of this thread only if a charge of the receipt can cause a report. */
    public Supplier<Executor> executorFor(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        boolean reports = !observers.isEmpty()
                && (!(receipt instanceof ChargeReceipt spent)
                        || spent.charges().stream()
                                .anyMatch(charge ->
                                        selection.test(charge) && callerToReport(charge, actualCost) != null));
        return reports ? executorOfThisThread() : executor;
    }

    /** Returns the caller whose share a settlement can have reached; null if there is nothing to report. */
    private @Nullable Caller callerToReport(Charge charge, long actualCost) {
        return actualCost > charge.cost() && !charge.shadow()
                ? callers.getIfPresent(new Place(charge.policy().policy(), charge.storedKey()))
                : null;
    }

    /** Takes the executor of the calling thread, for another thread. */
    static Supplier<Executor> taken(Supplier<Executor> executor) {
        try {
            Executor known = executor.get();
            return () -> known;
        } catch (RuntimeException e) { // the application ends
            return () -> {
                throw e;
            };
        }
    }

    /** Reports the shares that a settlement reaches, on the thread that has settled. */
    public void settled(List<Charge> settled, long actualCost) {
        settled(settled, actualCost, executor);
    }

    /**
     * Reports the shares that a settlement reaches, after a call of the backend on a thread of the executor. If the key is not known or no
     * thread is available, the next decision on the key reports them.
     */
    public void settled(List<Charge> settled, long actualCost, Supplier<Executor> threads) {
        if (observers.isEmpty()) {
            return;
        }
        for (Charge charge : settled) {
            Caller caller = callerToReport(charge, actualCost);
            if (caller != null) {
                submit(threads, () -> reportCurrent(caller, charge));
            }
        }
    }

    /** Forgets the reported shares, because the backend begins anew, as between two tests of an application. */
    public void reset() {
        periodEnds.invalidateAll();
    }

    private void reportCurrent(Caller caller, Charge charge) {
        List<Quota> quotas;
        try {
            quotas = backend.peek(List.of(charge));
        } catch (RuntimeException e) { // the next decision reports
            return;
        }
        List<Due> due = new ArrayList<>();
        addDue(due, caller, charge, quotas);
        due.forEach(this::report);
    }

    private void addDue(List<Due> due, Caller caller, Charge charge, List<Quota> quotas) {
        long now = clockMicros.getAsLong();
        for (int i = 0; i < quotas.size(); i++) {
            Quota quota = quotas.get(i);
            boolean exact = false;
            for (int percent : caller.policy.notifyAt()) {
                if (!isReached(quota, percent)) {
                    break;
                }
                ThresholdMark mark =
                        ThresholdMark.of(charge, charge.policy().limits().get(i), percent, now, quota);
                if (mark.isOfPeriod(periodEnds.getIfPresent(mark.place()))) {
                    continue;
                }
                if (!exact && isApproximate(backend, charge, i)) {
                    break;
                }
                exact = true;
                periodEnds.put(mark.place(), mark.endMicros());
                due.add(new Due(
                        mark,
                        new QuotaThresholdReached(
                                caller.endpoint,
                                caller.policy.name(),
                                percent,
                                masker.of(charge.storedKey()),
                                caller.key,
                                quota)));
            }
        }
    }

    /** Tests whether the quota of a limit can count permits of other keys, because a full backend shares its counts between keys. */
    static boolean isApproximate(RateLimitBackend backend, Charge charge, int index) {
        return backend.capability(RemembersRejections.class)
                .filter(memory -> memory.isApproximate(charge, index))
                .isPresent();
    }

    /** A blocked key has no remaining permits, whatever it has spent. */
    private static boolean isReached(Quota quota, int percent) {
        return quota.capacity() > 0
                && !quota.blocked()
                && quota.kind() != Quota.Kind.CONCURRENCY
                && (quota.capacity() - quota.remaining()) * 100 >= quota.capacity() * percent;
    }

    /** Starts a report. Returns false if no thread is available, so a later decision has to repeat it. */
    private boolean submit(Supplier<Executor> threads, Runnable report) {
        if (pending.incrementAndGet() > MAX_PENDING) {
            pending.decrementAndGet();
            return false;
        }
        try {
            threads.get().execute(() -> {
                try {
                    report.run();
                } finally {
                    pending.decrementAndGet();
                }
            });
            return true;
        } catch (RuntimeException e) { // the pool is full, or the application ends
            pending.decrementAndGet();
            return false;
        }
    }

    private void report(Due due) {
        if (spends(due.mark)) {
            observers.notifyEach(Consumer::accept, due.event);
        }
    }

    /** Spends a mark, and returns whether no other instance has spent it. */
    private boolean spends(ThresholdMark mark) {
        try {
            Decision decision = backend.acquire(mark.charges());
            if (decision instanceof Decision.Rejected rejected && !mark.fixed()) {
                periodEnds.put(mark.place(), clockMicros.getAsLong() + Micros.retryAfter(rejected.decisiveQuota()));
            }
            return decision.allowed();
        } catch (RuntimeException e) {
            return true;
        }
    }
}
