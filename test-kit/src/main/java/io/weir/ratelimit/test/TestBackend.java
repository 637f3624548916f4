// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.ChargedQuotas;
import io.weir.ratelimit.core.limit.DecisionClock;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.BackendStatus;
import io.weir.ratelimit.spi.ChangeStore;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConfigurationProblem;
import io.weir.ratelimit.spi.FleetStore;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.Penalty;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A backend whose state a test deletes at once, and whose calls fail by the faults of a test. */
final class TestBackend implements RateLimitBackend, DecisionClock {
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
    public Optional<ChangeStore> changeStore() {
        return backend.changeStore();
    }

    @Override
    public Optional<FleetStore> fleetStore() {
        return backend.fleetStore();
    }

    @Override
    public BackendStatus status() {
        return faults.status(backend.status());
    }

    @Override
    public void start() {
        if (startsLate) {
            backend.start();
        }
    }

    @Override
    public long atNanos(ChargedQuotas quotas) {
        return backend instanceof DecisionClock instants ? instants.atNanos(quotas) : faults.nanos();
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
        return backend.knownRejection(charges);
    }

    @Override
    public Optional<Decision> acquireApproximately(List<Charge> charges) {
        return backend.acquireApproximately(charges);
    }

    @Override
    public List<Quota> peek(Charge charge) {
        AtomicReference<@Nullable Charge> read = INSPECTION.get();
        if (read != null) {
            read.set(charge);
        }
        return call(known -> known.peek(charge));
    }

    @Override
    public List<Quota> peek(List<Charge> charges) {
        return call(known -> known.peek(charges));
    }

    @Override
    public void refund(Receipt receipt) {
        run(known -> known.refund(receipt));
    }

    @Override
    public CompletionStage<Void> refundAsync(Receipt receipt) {
        return callAsync(known -> known.refundAsync(receipt));
    }

    @Override
    public List<Charge> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return call(known -> known.settle(receipt, selection, actualCost));
    }

    @Override
    public CompletionStage<List<Charge>> settleAsync(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return callAsync(known -> known.settleAsync(receipt, selection, actualCost));
    }

    @Override
    public CompletionStage<Void> release(Receipt receipt) {
        return callAsync(known -> known.release(receipt));
    }

    @Override
    public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        return callAsync(known -> known.renew(receipts));
    }

    @Override
    public Duration block(PolicyLimits policy, String storedKey, Duration duration) {
        return call(known -> known.block(policy, storedKey, duration));
    }

    @Override
    public CompletionStage<Duration> blockAsync(PolicyLimits policy, String storedKey, Duration duration) {
        return callAsync(known -> known.blockAsync(policy, storedKey, duration));
    }

    @Override
    public void unblock(PolicyLimits policy, String storedKey) {
        run(known -> known.unblock(policy, storedKey));
    }

    @Override
    public CompletionStage<Optional<Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        return callAsync(known -> known.countRejections(policy, storedKey, rejections, rule));
    }

    @Override
    public void refund(Charge charge) {
        run(known -> known.refund(charge));
    }

    @Override
    public void reset(PolicyLimits policy, String storedKey) {
        run(known -> known.reset(policy, storedKey));
    }
}
