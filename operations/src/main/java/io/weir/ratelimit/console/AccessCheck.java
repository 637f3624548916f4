// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.response.RejectionProblems;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.runtime.HttpResource.Answer;
import io.weir.ratelimit.runtime.HttpResource.Login;
import io.weir.ratelimit.runtime.HttpResource.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Restricts the console to the configured role, by the authentication of the server. */
final class AccessCheck {
    private final Audit audit;
    private final Supplier<CallerQuotas.Logins> logins;

    /** The numbers of logins that the server is checking, by the address of the peer. */
    private final Map<String, Integer> pending = new ConcurrentHashMap<>();

    AccessCheck(Audit audit, Supplier<CallerQuotas.Logins> logins) {
        this.audit = audit;
        this.logins = logins;
    }

    /** The result of a check; the answer of a request that may not proceed is empty if the server has answered it. */
    record Result(boolean allowed, Optional<Answer> answer) {
        static final Result ALLOWED = new Result(true, Optional.empty());

        private static final Result ANSWERED = new Result(false, Optional.empty());

        private static Result rejected(Answer answer) {
            return new Result(false, Optional.of(answer));
        }
    }

    /** Checks whether the request may proceed. */
    Result of(Access access, Request request) throws IOException {
        if (!access.enabled()) {
            return Result.rejected(Answer.error(404));
        }
        if (access.role().isPresent()) {
            return ofRole(access.role().get(), "ratelimit.console.role", request);
        }
        return access.open()
                ? Result.ALLOWED
                : rejected("The console is closed. Set ratelimit.console.role to the role of its users. "
                        + "For demonstrations, ratelimit.console.open=true opens it to everyone.");
    }

    /** Checks whether the user of a request, which is allowed otherwise, may make changes. */
    Result ofChanges(Optional<String> role, Request request) throws IOException {
        return role.isPresent()
                ? ofRole(role.get(), "ratelimit.changes.role", request)
                : rejected("Set ratelimit.changes.role to the role of the users who make changes.");
    }

    private Result ofRole(String role, String property, Request request) throws IOException {
        if (!request.hasUser()) {
            if (request.caller().header("Authorization").isPresent()) {
                Optional<Decision.Rejected> rejection = logins.get().begin(request.caller());
                if (rejection.isPresent()) {
                    return tooManyLogins(peer(request), rejection.get());
                }
            }
            switch (login(request)) {
                case SUCCEEDED -> {}
                case ANSWERED -> {
                    audit.rejectedAccess("no user is logged in");
                    return Result.ANSWERED;
                }
                case UNAVAILABLE -> {
                    return rejected("This requires a user with the role of " + property
                            + ", but the application has no login.");
                }
            }
        }
        return request.caller().isInRole(role)
                ? Result.ALLOWED
                : rejected("This requires the role of " + property + ", which you do not have.");
    }

    /** Authenticates a request. Limits the rejected credentials of an address, because Open Liberty accepts any number of them. */
    private Login login(Request request) throws IOException {
        if (request.caller().header("Authorization").isEmpty()) {
            return request.login();
        }
        boolean succeeded = false;
        pending.merge(peer(request), 1, Integer::sum);
        try {
            Login login = request.login();
            succeeded = login == Login.SUCCEEDED;
            return login;
        } finally {
            pending.computeIfPresent(peer(request), (peer, count) -> count == 1 ? null : count - 1);
            logins.get().end(request.caller(), succeeded);
        }
    }

    private static String peer(Request request) {
        return request.caller().peerAddress().orElse("");
    }

    /** Rejects a login. One that is being checked counts as rejected, and frees its permits soon if it is not. */
    private Result tooManyLogins(String peer, Decision.Rejected rejection) {
        boolean some = pending.containsKey(peer);
        audit.rejectedAccess(
                some
                        ? "too many logins of an address are checked at once or were rejected"
                        : "too many logins of an address were rejected");
        Duration wait = some ? Duration.ZERO : rejection.retryAfter().orElse(Duration.ZERO);
        return Result.rejected(ConsoleResponse.tooManyLogins(some, RejectionProblems.unavailableSeconds(wait)));
    }

    private Result rejected(String message) {
        audit.rejectedAccess("the role is missing or not configured");
        return Result.rejected(ConsoleResponse.problem(403, message));
    }
}
