// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.microprofile.faulttolerance.Asynchronous;
import org.eclipse.microprofile.faulttolerance.Retry;

/** A bean with annotations of MicroProfile Fault Tolerance. */
@ApplicationScoped
public class Flaky {
    private final AtomicInteger attempts = new AtomicInteger();

    @Retry(maxRetries = 3, delay = 0, jitter = 0)
    @RateLimit("retried")
    public String alwaysFails() {
        attempts.incrementAndGet();
        throw new IllegalStateException("on purpose");
    }

    public int attempts() {
        return attempts.get();
    }

    @Asynchronous
    @RateLimit("asynchronous")
    public CompletionStage<String> asynchronous() {
        return CompletableFuture.completedStage("done");
    }
}
