// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The store, which always decides: where it fails, the fallback does. */
final class DecidingStore {
    private final RateLimitBackend backend;
    private final Fallback fallback;
    private final Outages outages;

    DecidingStore(RateLimitBackend backend, Fallback fallback, Outages outages) {
        this.backend = backend;
        this.fallback = fallback;
        this.outages = outages;
    }

    /** A decision, how long the store took and when it had answered; with why the store did not decide, if it did not. */
    record Told(
            List<Charge> charges,
            Decision decision,
            long nanos,
            long atNanos,
            @Nullable BackendException failure) {}

    Told decide(Binding binding, List<Charge> charges) {
        long start = System.nanoTime();
        Decision decision;
        try {
            decision = backend.acquire(charges);
        } catch (RuntimeException e) {
            return failed(binding, charges, known(e), start, System.nanoTime());
        }
        answered();
        long end = System.nanoTime();
        return new Told(charges, decision, end - start, end, null);
    }

    /** While its breaker is open, a store that decides does so from what it remembers. */
    private void answered() {
        if ((outages.away() || outages.awayForAll()) && !backend.status().breakerOpen()) {
            outages.answered();
        }
    }

    private Told failed(Binding binding, List<Charge> charges, BackendException failure, long start, long end) {
        outages.failed(failure);
        return new Told(charges, fallback.decide(binding, charges, failure), end - start, end, failure);
    }

    /** Decides without asking the store, which has just failed to answer the same call. */
    Told withoutAsking(Binding binding, List<Charge> charges, BackendException failure) {
        outages.notAsked(failure);
        return new Told(charges, fallback.decide(binding, charges, failure), 0, System.nanoTime(), failure);
    }

    CompletionStage<Told> decideAsync(Binding binding, List<Charge> charges) {
        long start = System.nanoTime();
        return acquireAsync(charges).handle((decided, failure) -> {
            long end = System.nanoTime();
            if (decided == null) {
                return failed(binding, charges, known(failure), start, end);
            }
            answered();
            return new Told(charges, decided, end - start, end, null);
        });
    }

    /** A store may throw as well as complete with a failure. */
    private CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        try {
            return backend.acquireAsync(charges);
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** What is not known can have anything in its text, an identity too. */
    static BackendException known(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof BackendException known
                ? known
                : new BackendException(
                        BackendException.Reason.REFUSED,
                        "the store failed with " + cause.getClass().getName(),
                        cause);
    }

    /**
     * Gives back what a call was charged that does not go on. Where the store fails, the charge stays until it returns by itself.
     *
     * @return why the store failed, null if it did not
     */
    @Nullable
    BackendException giveBack(Receipt receipt) {
        try {
            backend.giveBack(receipt);
            return null;
        } catch (RuntimeException e) {
            BackendException failure = known(e);
            outages.errorOf(failure);
            return failure;
        }
    }

    /** As {@link #giveBack}, without waiting for it. */
    void giveBackAsync(Receipt receipt) {
        try {
            CompletionStage<Void> given = backend.giveBackAsync(receipt);
            given.whenComplete((done, failure) -> {
                if (failure != null) {
                    outages.errorOf(known(failure));
                }
            });
        } catch (RuntimeException e) {
            outages.errorOf(known(e));
        }
    }

    /** What code asks of the store beside decisions; a failure is counted like those of decisions. */
    <T> T ask(Function<RateLimitBackend, T> operation) {
        try {
            return operation.apply(backend);
        } catch (RuntimeException e) {
            BackendException known = known(e);
            outages.errorOf(known);
            throw new RateLimitUnavailableException(known.reason().tag(), known.retryAfter());
        }
    }
}
