// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.app;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.concurrent.Asynchronous;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** A bean whose methods the container calls on another thread. */
@ApplicationScoped
public class Background {
    private final AtomicInteger runs = new AtomicInteger();

    @Asynchronous
    @RateLimit("background")
    public CompletableFuture<String> report(CompletableFuture<String> returned) {
        return Asynchronous.Result.complete(returned.join());
    }

    @Asynchronous
    @RateLimit("background-void")
    public void clean() {}

    @Asynchronous
    @RateLimit("background-paced")
    public CompletableFuture<String> paced() {
        return Asynchronous.Result.complete("run " + runs.incrementAndGet());
    }

    @Asynchronous
    @RateLimit("background-slot")
    public CompletableFuture<String> slot(CompletableFuture<String> end) {
        return Asynchronous.Result.complete(end.join());
    }
}
