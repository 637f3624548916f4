// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
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

/** The store, which always decides: where it fails, the policies' failure modes do. */
final class DecidingStore {
    private final RateLimitBackend backend;
    private final Outages outages;

    DecidingStore(RateLimitBackend backend, Outages outages) {
        this.backend = backend;
        this.outages = outages;
    }

    /** A decision and how long the store took. */
    record Told(List<Charge> charges, Decision decision, long nanos) {}

    Told decide(Binding binding, List<Charge> charges) {
        long start = System.nanoTime();
        Decision decision;
        try {
            decision = backend.acquire(charges);
            outages.answered();
        } catch (RuntimeException e) {
            decision = degraded(binding, charges, e);
        }
        return new Told(charges, decision, System.nanoTime() - start);
    }

    CompletionStage<Told> decideAsync(Binding binding, List<Charge> charges) {
        long start = System.nanoTime();
        return acquireAsync(charges).handle((decided, failure) -> {
            long nanos = System.nanoTime() - start;
            if (decided != null) {
                outages.answered();
            }
            return new Told(charges, decided != null ? decided : degraded(binding, charges, failure), nanos);
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

    private Decision degraded(Binding binding, List<Charge> charges, Throwable failure) {
        BackendException known = known(failure);
        outages.failed(known);
        boolean closed = binding.policies().stream()
                .anyMatch(costed -> costed.policy().onFailure() == FailureMode.CLOSED
                        && !isShadow(costed.policy().name(), charges));
        return new Decision.Degraded(
                closed ? FailureMode.CLOSED : FailureMode.OPEN,
                !closed,
                known.reason().tag());
    }

    /** A policy in shadow mode refuses nobody, whatever its failure mode. */
    private static boolean isShadow(String policy, List<Charge> charges) {
        return charges.stream()
                .anyMatch(charge -> charge.shadow() && charge.policy().policy().equals(policy));
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

    /** Gives back what a call was charged that does not go on. Where the store fails, the charge stays until it returns by itself. */
    void giveBack(Receipt receipt) {
        try {
            backend.giveBack(receipt);
        } catch (RuntimeException e) {
            outages.errorOf(known(e));
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
            throw new RateLimitUnavailableException(known.reason().tag());
        }
    }
}
