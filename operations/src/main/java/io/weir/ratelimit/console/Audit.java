// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.core.message.MessageCatalog;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

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

    /** Logs the reset of a key with the name of the user, which is personal data and the purpose of an audit. */
    void reset(Optional<String> user, CallerOperations.Caller caller) {
        MESSAGES.log(LOG, "WEIR-502", caller.key(), caller.policy(), name(user));
    }

    /** Logs a reset without an answer of the backend, which may have carried it out. */
    void resetInDoubt(Optional<String> user, CallerOperations.Caller caller, String reason) {
        MESSAGES.log(LOG, "WEIR-502.in-doubt", caller.key(), caller.policy(), name(user), reason);
    }

    /** Logs a change without an answer of the store, which may have made it. */
    void changeInDoubt(Optional<String> user, String reason) {
        MESSAGES.log(LOG, "WEIR-454", name(user), reason);
    }

    /** Logs a block, or the end of one, with the name of the user and the reason. */
    void block(Optional<String> user, CallerOperations.Caller caller, BlockChange change) {
        if (change.kind() == BlockChange.Kind.BLOCK) {
            MESSAGES.log(
                    LOG, "WEIR-442", caller.key(), caller.policy(), name(user), change.duration(), change.reason());
        } else {
            MESSAGES.log(LOG, "WEIR-443", caller.key(), caller.policy(), name(user), change.reason());
        }
    }

    /** Logs such a change without an answer of the backend, which may have carried it out. */
    void blockInDoubt(Optional<String> user, CallerOperations.Caller caller, BlockChange change, String problem) {
        if (change.kind() == BlockChange.Kind.BLOCK) {
            MESSAGES.log(
                    LOG,
                    "WEIR-442.in-doubt",
                    caller.key(),
                    caller.policy(),
                    name(user),
                    change.duration(),
                    change.reason(),
                    problem);
        } else {
            MESSAGES.log(LOG, "WEIR-443.in-doubt", caller.key(), caller.policy(), name(user), change.reason(), problem);
        }
    }

    private static String name(Optional<String> user) {
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
