// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.CallerOperations.Caller;
import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.core.message.MessageCatalog.Message;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.runtime.HttpResource.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The operations of the HTTP API that block a caller or end its block. With runtime changes, operators block by a change, and end such a
 * block by its undo.
 */
record BlocksApi(Supplier<Operations> operations, Supplier<FleetCallers> callers, ChangesApi changes, Audit audit) {
    /** The greatest number of characters of a reason. */
    private static final int MAX_REASON = 200;

    /** A character that can change how a line of a log is shown. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

    /** Returns the operations of {@code POST} by their paths below the root of the API. */
    Map<String, Api.Operation> posts() {
        return Map.of("callers/block", this::block, "callers/unblock", this::unblock);
    }

    private Map<String, Object> block(Request request) throws IOException, PostedJson.RejectedException {
        Lookup lookup = Lookup.of(PostedJson.of(request), Set.of("duration", "reason"));
        String reason = reason(lookup);
        String duration = lookup.text("duration").strip();
        Caller caller = lookup.caller(operations.get(), callers);
        changes.checkBlock(caller);
        String key = caller.key();
        String policy = caller.policy();
        String user = Audit.name(request.caller().principal());
        return change(
                caller,
                () -> operations.get().block(caller, ConfigReader.duration(duration)),
                MESSAGES.message("WEIR-442", key, policy, user, duration, reason),
                problem -> MESSAGES.message("WEIR-442.in-doubt", key, policy, user, duration, reason, problem));
    }

    private Map<String, Object> unblock(Request request) throws IOException, PostedJson.RejectedException {
        Lookup lookup = Lookup.of(PostedJson.of(request), Set.of("reason"));
        String reason = reason(lookup);
        Caller caller = lookup.caller(operations.get(), callers);
        changes.checkNotBlocked(caller);
        String key = caller.key();
        String policy = caller.policy();
        String user = Audit.name(request.caller().principal());
        return change(
                caller,
                () -> {
                    operations.get().unblock(caller);
                    return Duration.ZERO;
                },
                MESSAGES.message("WEIR-443", key, policy, user, reason),
                problem -> MESSAGES.message("WEIR-443.in-doubt", key, policy, user, reason, problem));
    }

    private static String reason(Lookup lookup) {
        String reason = lookup.text("reason").strip();
        if (reason.isEmpty()
                || reason.length() > MAX_REASON
                || UNPRINTABLE.matcher(reason).find()) {
            throw new IllegalArgumentException("reason must have 1 to " + MAX_REASON + " printable characters");
        }
        return reason;
    }

    private Map<String, Object> change(
            Caller caller, Supplier<Duration> change, Message made, Function<String, Message> inDoubt) {
        try {
            Duration rest = audit.change(change, made, inDoubt);
            return Map.of("policy", caller.policy(), "key", caller.key(), "blockedMillis", rest.toMillis());
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException("the backend cannot block keys", e);
        }
    }
}
