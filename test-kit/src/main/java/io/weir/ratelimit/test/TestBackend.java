// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import io.weir.ratelimit.spi.SettlesCharges;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A backend whose state a test deletes at once, and whose calls fail by the faults of a test. */
final class TestBackend
        implements ChargedResults.InProcessBackend, SettlesCharges, HoldsSlots, BlocksKeys, RemembersRejections {
    /** Set on a thread that inspects a backend. */
    private static final ThreadLocal<@Nullable AtomicReference<@Nullable Charge>> INSPECTION = new ThreadLocal<>();

    private final Supplier<RateLimitBackend> fresh;
    private final BackendFaults faults;
    private final boolean startsLate;
    private volatile RateLimitBackend backend;

    /**
     * Creates a backend.
     *
     * @param fresh returns a backend without state, which has started
     */
    TestBackend(Supplier<RateLimitBackend> fresh, BackendFaults faults) {
        this(fresh, faults, false);
    }

    private TestBackend(Supplier<RateLimitBackend> fresh, BackendFaults faults, boolean startsLate) {
        this.fresh = fresh;
        this.faults = faults;
        this.startsLate = startsLate;
        this.backend = fresh.get();
    }

    /** Creates a backend around the one that the configuration selects, which starts with the engine. */
    static TestBackend around(RateLimitBackend selected, BackendFaults faults) {
        return new TestBackend(() -> selected, faults, true);
    }

    /** Returns the backend without its faults. */
    RateLimitBackend healthy() {
        return backend;
    }

    /** Deletes the state of all keys. */
    void reset() {
        backend = fresh.get();
    }

    /**
     * Runs an operation on this thread without faults.
     *
     * @return the last charge whose quotas the operation has read
     */
    Optional<Charge> inspect(Runnable operation) {
        AtomicReference<@Nullable Charge> read = new AtomicReference<>();
        INSPECTION.set(read);
        try {
            operation.run();
        } finally {
            INSPECTION.remove();
        }
        return Optional.ofNullable(read.get());
    }

    private void applyFaults() {
        if (INSPECTION.get() == null) {
            faults.apply();
        }
    }

    private <T> T call(Function<RateLimitBackend, T> operation) {
        applyFaults();
        return operation.apply(backend);
    }

    private <T> CompletionStage<T> callAsync(Function<RateLimitBackend, CompletionStage<T>> operation) {
        return faults.applyAsync().thenCompose(done -> operation.apply(backend));
    }

    private <C> C require(Class<C> type) {
        return backend.capability(type).orElseThrow(UnsupportedOperationException::new);
    }

    /** Delays a call on its thread, because most callers wait for the stage, and a wait must move the clock of a test. */
    private <T> CompletionStage<T> stage(Function<RateLimitBackend, CompletionStage<T>> operation) {
        try {
            return call(operation);
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private void run(Consumer<RateLimitBackend> operation) {
        applyFaults();
        operation.accept(backend);
    }

    @Override
    public String name() {
        return backend.name();
    }

    @Override
    public boolean isConfigured() {
        return backend.isConfigured();
    }

    @Override
    public List<ConfigurationProblem> validateConfiguration() {
        return backend.validateConfiguration();
    }

    @Override
    public boolean supports(Limit limit) {
        return backend.supports(limit);
    }

    @Override
    public void registerListener(BackendListener listener) {
        backend.registerListener(listener);
    }

    @Override
    public <C> Optional<C> capability(Class<C> type) {
        Optional<C> known = backend.capability(type);
        return known.isPresent() && type.isInstance(this) ? Optional.of(type.cast(this)) : known;
    }

    @Override
    public RateLimitBackend.Status status() {
        return faults.status(backend.status());
    }

    @Override
    public void start() {
        if (startsLate) {
            backend.start();
        }
    }

    @Override
    public long atNanos(ChargedResults results) {
        return backend instanceof ChargedResults.InProcessBackend known ? known.atNanos(results) : faults.nanos();
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        return call(known -> known.acquire(charges));
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return callAsync(known -> known.acquireAsync(charges));
    }

    @Override
    public Optional<Decision.Rejected> knownRejection(List<Charge> charges) {
        return require(RemembersRejections.class).knownRejection(charges);
    }

    @Override
    public Optional<Decision> acquireApproximately(List<Charge> charges) {
        return require(RemembersRejections.class).acquireApproximately(charges);
    }

    @Override
    public boolean isApproximate(Charge charge, int index) {
        return require(RemembersRejections.class).isApproximate(charge, index);
    }

    @Override
    public List<Quota> peek(List<Charge> charges) {
        AtomicReference<@Nullable Charge> read = INSPECTION.get();
        if (read != null) {
            read.set(charges.get(charges.size() - 1));
        }
        return call(known -> known.peek(charges));
    }

    @Override
    public CompletionStage<Void> refund(Receipt receipt) {
        return stage(known -> known.refund(receipt));
    }

    @Override
    public CompletionStage<List<Charge>> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return stage(known -> require(SettlesCharges.class).settle(receipt, selection, actualCost));
    }

    @Override
    public CompletionStage<Boolean> release(Receipt receipt) {
        return callAsync(known -> require(HoldsSlots.class).release(receipt));
    }

    @Override
    public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        return callAsync(known -> require(HoldsSlots.class).renew(receipts));
    }

    @Override
    public CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
        return stage(known -> require(BlocksKeys.class).block(policy, storedKey, duration));
    }

    @Override
    public CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
        return stage(known -> require(BlocksKeys.class).unblock(policy, storedKey));
    }

    @Override
    public CompletionStage<Optional<BlocksKeys.Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        return callAsync(known -> require(BlocksKeys.class).countRejections(policy, storedKey, rejections, rule));
    }

    @Override
    public CompletionStage<Void> refund(Charge charge) {
        return stage(known -> known.refund(charge));
    }

    @Override
    public void reset(List<PolicyLimits> limits, String storedKey) {
        run(known -> known.reset(limits, storedKey));
    }
}
