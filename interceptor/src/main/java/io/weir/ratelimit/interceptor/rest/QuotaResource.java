// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.response.RejectionProblems;
import io.weir.ratelimit.runtime.HttpResource;
import io.weir.ratelimit.spi.CallContext;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** The quota resource. It reads the quotas of its caller, and changes nothing. */
public final class QuotaResource implements HttpResource {
    private final Supplier<CallerQuotas> quotas;
    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * Creates the resource. The quotas are read for each request, because some servers create the resource before the deployment has ended.
     */
    public QuotaResource(Supplier<CallerQuotas> quotas) {
        this.quotas = quotas;
    }

    @Override
    public Optional<Answer> answer(Request request) throws IOException {
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            return Optional.of(new Answer(
                    request.method().equals("OPTIONS") ? 204 : 405, Map.of("Allow", "GET, HEAD, OPTIONS"), ""));
        }
        try {
            return read(request);
        } catch (RateLimitUnavailableException e) {
            return Optional.of(QuotaResponse.of(RejectionProblems.unavailable(e.retryAfter())));
        } catch (RuntimeException e) {
            if (failed.compareAndSet(false, true)) {
                MESSAGES.log(e, "WEIR-323");
            }
            return Optional.of(Answer.error(500));
        }
    }

    /** Lets the server authenticate a caller with credentials, because servers do not do so for a path without a constraint. */
    private Optional<Answer> read(Request request) throws IOException {
        CallerQuotas known = quotas.get();
        CallContext caller = request.caller();
        boolean hasCredentials =
                !request.hasUser() && caller.header("Authorization").isPresent();
        Optional<Decision.Rejected> rejection = known.rejection(caller, hasCredentials);
        if (rejection.isPresent()) {
            return Optional.of(QuotaResponse.of(RejectionProblems.generic(rejection.get())));
        }
        if (hasCredentials) {
            if (request.login() == Login.ANSWERED) {
                return Optional.empty();
            }
            known.loginNotRejected(caller);
        }
        // After a login, the caller has a user.
        return Optional.of(QuotaResponse.of(known.of(request.caller())));
    }
}
