// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RScript;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisTryAgainException;

/** One call of a script, which runs at most once: it is sent again only after answers by which Redis says that it has not run it. */
final class ScriptCall {
    /** A client of the application's that has a cache of scripts sends a digest for the text once more, which can fail again. */
    private static final int TIMES_IN_FULL = 3;

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final RScript scripts;
    private final Script script;
    private final List<Object> keys;
    private final byte[] argument;
    private final long untilNanos;

    /**
     * A call that is not sent yet.
     *
     * @param scripts the client's, which must not send anything again by itself
     * @param keys one or more, of one slot
     * @param untilNanos until when it may be sent again, as {@link System#nanoTime}
     */
    ScriptCall(RScript scripts, Script script, List<Object> keys, byte[] argument, long untilNanos) {
        this.scripts = scripts;
        this.script = script;
        this.keys = keys;
        this.argument = argument;
        this.untilNanos = untilNanos;
    }

    /** Sends it by the script's digest. */
    CompletableFuture<byte[]> send() {
        boolean hadNone = FastThreadLocal.size() == 0;
        try {
            return scripts.<byte[]>evalShaAsync(
                            firstKey(),
                            RScript.Mode.READ_WRITE,
                            script.digest(),
                            RScript.ReturnType.VALUE,
                            keys,
                            argument)
                    .toCompletableFuture()
                    .exceptionallyCompose(failure -> again(failure, TIMES_IN_FULL));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        } finally {
            // Where it makes a connection, the client leaves values on this thread. A server's outlives the
            // application, whose class loader they would keep.
            if (hadNone) {
                FastThreadLocal.removeAll();
            }
        }
    }

    private CompletionStage<byte[]> again(Throwable failure, int timesInFull) {
        Throwable cause = cause(failure);
        if (timesInFull > 0 && cause instanceof RedisNoScriptException) {
            return sendInFull().exceptionallyCompose(next -> again(next, timesInFull - 1));
        }
        // A part of the keys has moved to another master, and the others follow.
        if (cause instanceof RedisTryAgainException && System.nanoTime() + PAUSE_NANOS - untilNanos < 0) {
            return new CompletableFuture<>()
                    .completeOnTimeout(null, PAUSE_NANOS, TimeUnit.NANOSECONDS)
                    .thenCompose(paused ->
                            System.nanoTime() - untilNanos < 0 ? send() : CompletableFuture.failedFuture(failure));
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

    /** Why a stage has failed, without what stages wrap it in. */
    static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
