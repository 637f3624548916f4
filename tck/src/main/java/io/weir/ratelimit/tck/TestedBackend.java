// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.SettlesCharges;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * The calls of a test on a backend. A call waits for its stage and throws the exception of a stage, unless its name ends with {@code Async}.
 *
 * <p>A call aborts the test instead of failing it if its limit is not supported, or if the backend lacks the capability.
 *
 * @param backend the backend under test
 */
public record TestedBackend(RateLimitBackend backend) {
    boolean supports(Limit limit) {
        return backend.supports(limit);
    }

    public Decision acquire(List<Charge> charges) {
        require(charges);
        return backend.acquire(charges);
    }

    CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        require(charges);
        return backend.acquireAsync(charges);
    }

    public List<Quota> peek(Charge charge) {
        return peek(List.of(charge));
    }

    public List<Quota> peek(List<Charge> charges) {
        require(charges);
        return backend.peek(charges);
    }

    public void refund(Receipt receipt) {
        await(backend.refund(receipt));
    }

    CompletionStage<Void> refundAsync(Receipt receipt) {
        return backend.refund(receipt);
    }

    public void refund(Charge charge) {
        require(List.of(charge));
        await(backend.refund(charge));
    }

    public List<Charge> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return await(settleAsync(receipt, selection, actualCost));
    }

    CompletionStage<List<Charge>> settleAsync(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return capability(SettlesCharges.class).settle(receipt, selection, actualCost);
    }

    CompletionStage<Boolean> release(Receipt receipt) {
        return capability(HoldsSlots.class).release(receipt);
    }

    CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        return capability(HoldsSlots.class).renew(receipts);
    }

    public Duration block(PolicyLimits policy, String storedKey, Duration duration) {
        return await(blockAsync(policy, storedKey, duration));
    }

    CompletionStage<Duration> blockAsync(PolicyLimits policy, String storedKey, Duration duration) {
        require(policy);
        return capability(BlocksKeys.class).block(policy, storedKey, duration);
    }

    public void unblock(PolicyLimits policy, String storedKey) {
        require(policy);
        await(capability(BlocksKeys.class).unblock(policy, storedKey));
    }

    CompletionStage<Optional<BlocksKeys.Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        require(policy);
        return capability(BlocksKeys.class).countRejections(policy, storedKey, rejections, rule);
    }

    public void reset(PolicyLimits policy, String storedKey) {
        require(policy);
        backend.reset(List.of(policy), storedKey);
    }

    private <C> C capability(Class<C> type) {
        return backend.capability(type)
                .orElseThrow(() -> new TestAbortedException("the backend does not implement " + type.getSimpleName()));
    }

    private void require(List<Charge> charges) {
        charges.forEach(charge -> require(charge.policy()));
    }

    private void require(PolicyLimits policy) {
        for (Limit limit : policy.limits()) {
            if (!backend.supports(limit)) {
                throw new TestAbortedException("the backend does not support " + limit);
            }
        }
    }

    private static <T> T await(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw e;
        }
    }

    /** Aborts a test whose other threads were aborted. */
    static final class InThreads implements TestExecutionExceptionHandler {
        @Override
        public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                if (cause instanceof TestAbortedException aborted) {
                    throw aborted;
                }
            }
            throw failure;
        }
    }
}
