// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.netty.util.concurrent.FastThreadLocal;
import io.weir.ratelimit.redisson.script.Script;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RScript;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisRedirectException;
import org.redisson.client.RedisTryAgainException;

/** One call of a script, which runs at most once: it is sent again only after a reply that shows that Redis did not run it. */
final class ScriptCall {
    /** A client with a script cache replaces the source by its digest, so sending in full can fail as well. */
    private static final int MAX_FULL_ATTEMPTS = 3;

    private static final long RETRY_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final RScript scripts;
    private final @Nullable ClusterWrites writes;
    private final Script script;
    private final List<Object> keys;
    private final byte[] argument;
    private final long deadlineNanos;

    /**
     * Creates a call about keys of one slot that is not sent. The scripts are of a client that must not retry by itself. The call may be
     * sent again until its deadline.
     *
     * @param writes the writes of a cluster, null if there are none
     */
    ScriptCall(
            RScript scripts,
            @Nullable ClusterWrites writes,
            Script script,
            List<Object> keys,
            byte[] argument,
            long deadlineNanos) {
        this.scripts = scripts;
        this.writes = writes;
        this.script = script;
        this.keys = keys;
        this.argument = argument;
        this.deadlineNanos = deadlineNanos;
    }

    /** Sends the digest of the script. */
    CompletableFuture<byte[]> send() {
        boolean hadNoLocals = FastThreadLocal.size() == 0;
        try {
            CompletableFuture<byte[]> queued =
                    writes == null ? null : writes.send(script, keys, argument, deadlineNanos);
            return (queued == null ? sendAlone() : queued.exceptionallyCompose(this::followRedirection))
                    .exceptionallyCompose(failure -> retry(failure, MAX_FULL_ATTEMPTS));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        } finally {
            // A client that connects leaves thread-local values. A server's thread outlives the application, whose
            // class loader the values would keep in memory.
            if (hadNoLocals) {
                FastThreadLocal.removeAll();
            }
        }
    }

    /** Sends the digest in a write of its own. The client follows redirections. */
    private CompletableFuture<byte[]> sendAlone() {
        return scripts.<byte[]>evalShaAsync(
                        firstKey(), RScript.Mode.READ_WRITE, script.digest(), RScript.ReturnType.VALUE, keys, argument)
                .toCompletableFuture();
    }

    /** Sends the call to another master after a reply that names it: Redis did not run the call. */
    private CompletionStage<byte[]> followRedirection(Throwable failure) {
        boolean redirected = RedisFailures.unwrap(failure) instanceof RedisRedirectException;
        return redirected && deadlineNanos - System.nanoTime() > 0
                ? sendAlone()
                : CompletableFuture.failedFuture(failure);
    }

    private CompletionStage<byte[]> retry(Throwable failure, int fullAttempts) {
        Throwable cause = RedisFailures.unwrap(failure);
        if (fullAttempts > 0 && cause instanceof RedisNoScriptException && deadlineNanos - System.nanoTime() > 0) {
            return sendInFull().exceptionallyCompose(next -> retry(next, fullAttempts - 1));
        }
        // Redis moves the slot: some keys are on the new master already, the others follow.
        if (cause instanceof RedisTryAgainException && System.nanoTime() + RETRY_DELAY_NANOS - deadlineNanos < 0) {
            return new CompletableFuture<>()
                    .completeOnTimeout(null, RETRY_DELAY_NANOS, TimeUnit.NANOSECONDS)
                    .thenCompose(paused ->
                            System.nanoTime() - deadlineNanos < 0 ? send() : CompletableFuture.failedFuture(failure));
        }
        return CompletableFuture.failedFuture(failure);
    }

    private CompletableFuture<byte[]> sendInFull() {
        return scripts.<byte[]>evalAsync(
                        firstKey(), RScript.Mode.READ_WRITE, script.text(), RScript.ReturnType.VALUE, keys, argument)
                .toCompletableFuture();
    }

    private String firstKey() {
        return (String) keys.get(0);
    }
}
