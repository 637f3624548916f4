// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.message.MessageCatalog;
import io.weir.ratelimit.core.message.MessageCatalog.Message;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The audit log of the console. Events that clients can cause at will are logged at most once a minute. */
final class Audit {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit.console");
    private static final long MIN_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    private final MessageCatalog.Sampler accesses = new MessageCatalog.Sampler(MIN_INTERVAL_NANOS);
    private final MessageCatalog.Sampler origins = new MessageCatalog.Sampler(MIN_INTERVAL_NANOS);
    private final MessageCatalog.Sampler failures = new MessageCatalog.Sampler(MIN_INTERVAL_NANOS);

    Audit(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Resets a caller, and logs that with the name of the user, which is personal data and the purpose of an audit. */
    <T> T reset(Optional<String> user, CallerOperations.Caller caller, Supplier<T> reset) {
        return change(
                reset,
                MESSAGES.message("WEIR-502", caller.key(), caller.policy(), name(user)),
                problem -> MESSAGES.message("WEIR-502.in-doubt", caller.key(), caller.policy(), name(user), problem));
    }

    /** Makes a change, and logs it; as one in doubt if the backend does not answer, which may have carried it out. */
    <T> T change(Supplier<T> change, Message made, Function<String, Message> inDoubt) {
        try {
            T changed = change.get();
            made.log(LOG);
            return changed;
        } catch (RateLimitUnavailableException e) {
            inDoubt.apply(e.reason()).log(LOG);
            throw e;
        }
    }

    /** Logs a change without an answer of the store, which may have made it. */
    void changeInDoubt(Optional<String> user, String reason) {
        MESSAGES.log(LOG, "WEIR-454", name(user), reason);
    }

    /** Returns the name of a user in messages. */
    static String name(Optional<String> user) {
        return user.map(name -> "user " + name).orElse("an anonymous user");
    }

    /** Logs a rejected access to the console. */
    void rejectedAccess(String reason) {
        long count = accesses.countToLog(nanoTime.getAsLong());
        if (count > 0) {
            MESSAGES.log(LOG, "WEIR-503", count, reason);
        }
    }

    /** Logs a rejected request from another origin. */
    void rejectedOrigin() {
        long count = origins.countToLog(nanoTime.getAsLong());
        if (count > 0) {
            MESSAGES.log(LOG, "WEIR-504", count);
        }
    }

    /** Logs an unexpected failure of a request. */
    void failed(RuntimeException failure) {
        if (failures.countToLog(nanoTime.getAsLong()) > 0) {
            MESSAGES.log(LOG, failure, "WEIR-505");
        }
    }
}
