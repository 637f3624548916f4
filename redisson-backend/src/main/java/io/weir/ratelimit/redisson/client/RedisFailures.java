// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.client;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisTimeoutException;

/** Translation of the client's exceptions. Messages of the client that may contain keys are left out. */
public final class RedisFailures {
    /** Before Redis 7, the error of a command in a script follows the {@code ERR} of the script. */
    private static final Pattern ERROR_IN_SCRIPT = Pattern.compile("^ERR Error running script.*: -([A-Z]{2,})\\b");

    /** Before Redis 7.2, the error of a missing right in a script begins with {@code ERR}. */
    private static final Pattern DENIED_IN_SCRIPT = Pattern.compile("user executing the script|ACL failure in script");

    private RedisFailures() {}

    /** Returns why a script did not run. */
    public static BackendException toBackendException(Throwable failure) {
        Throwable cause = unwrap(failure);
        if (cause instanceof BackendException known) {
            return known;
        }
        String name = cause.getClass().getSimpleName();
        if (cause instanceof RedisTimeoutException) {
            return new BackendException(Reason.TIMEOUT, name, cause);
        }
        if (cause.getCause() == null && isErrorReply(cause)) {
            return new BackendException(Reason.BACKEND_ERROR, "Redis answered " + errorCode(cause), cause);
        }
        String words = ConnectionCause.of(cause, false)
                .map(known -> name + ", " + known)
                .orElse(name);
        return new BackendException(Reason.CONNECTION, words, cause);
    }

    /** Returns why there is no connection: an error reply, such as that of a wrong password, a failure of TLS, or no reply. */
    static BackendException toNotReady(Throwable failure, RedisEndpoints endpoints) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (isErrorReply(cause)) {
                String code = errorCode(cause);
                String words = ConnectionCause.ofErrorReply(code, String.valueOf(cause.getMessage()))
                        .map(known -> ", " + known)
                        .orElse("");
                return new BackendException(
                        Reason.BACKEND_ERROR, "Redis" + endpoints + " answered " + code + words, failure);
            }
        }
        String words = ConnectionCause.of(failure, endpoints.tls())
                .orElseGet(() -> unwrap(failure).getClass().getSimpleName());
        return notReady(words, endpoints, failure);
    }

    /** Returns the failure of calls before the first connection. */
    static BackendException notReady(String why, RedisEndpoints endpoints, @Nullable Throwable failure) {
        return new BackendException(Reason.NOT_READY, "No connection to Redis" + endpoints + " yet: " + why, failure);
    }

    /** Returns the cause of the failure of a stage. */
    public static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** Error replies begin with a word in capitals, such as {@code NOAUTH} or {@code LOADING}. The client removes {@code OOM}. */
    private static boolean isErrorReply(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof RedisOutOfMemoryException
                || (failure instanceof RedisException && message != null && message.matches("(?s)[A-Z]{2,}\\b.*"));
    }

    /** Tests whether the server is a replica, which runs no script with writes. */
    static boolean isReadOnly(Throwable failure) {
        Throwable cause = unwrap(failure);
        return isErrorReply(cause) && errorCode(cause).equals("READONLY");
    }

    /** Returns why Redis is unavailable, null if a probe has shown that it is not. A foreign value is an answer. */
    public static @Nullable BackendException ofProbe(@Nullable Throwable failure) {
        BackendException known = failure == null ? null : toBackendException(failure);
        return known == null || known.reason() == Reason.FOREIGN_STATE ? null : known;
    }

    private static String errorCode(Throwable reply) {
        if (reply instanceof RedisOutOfMemoryException) {
            return "OOM";
        }
        String message = String.valueOf(reply.getMessage());
        if (DENIED_IN_SCRIPT.matcher(message).find()) {
            return "NOPERM";
        }
        Matcher inScript = ERROR_IN_SCRIPT.matcher(message);
        return inScript.find() ? inScript.group(1) : message.split("[ .]", 2)[0];
    }
}
