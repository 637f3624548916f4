// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimit;
import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.io.Serial;
import java.io.Serializable;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of bean methods. It surrounds the interceptors for transactions, fault tolerance and validation: a rejection opens
 * no transaction, and a retried method is charged once.
 */
@Interceptor
@RateLimit
@Priority(Interceptor.Priority.PLATFORM_BEFORE + 100)
public class RateLimitInterceptor implements Serializable {
    @Serial
    private static final long serialVersionUID = 1;

    private final RateLimitExtension deployment;

    /**
     * Creates the interceptor of a bean.
     *
     * @param deployment the deployment of the bean
     */
    @Inject
    public RateLimitInterceptor(RateLimitExtension deployment) {
        this.deployment = deployment;
    }

    /**
     * Calls the method if its policies allow the call.
     *
     * @param invocation the call
     * @return the result of the method
     * @throws Exception the exception of the method, or of a rejection
     */
    @AroundInvoke
    public @Nullable Object limit(InvocationContext invocation) throws Exception {
        // The extension is a proxy, which takes a part of the time of a decision in process.
        RateLimitGate gate = deployment.application().gate();
        MethodBindings.MethodBinding method = gate.method(invocation);
        if (method.asynchrony() == Asynchrony.NONE) {
            return proceed(invocation, gate, gate.enter(method, invocation));
        }
        LaterEntry entry = gate.enterLater(method, invocation);
        if (entry.isDecided()) {
            return proceed(invocation, gate, entry.entry());
        }
        LaterCall call = new LaterCall(entry, gate.states(), decided -> proceed(invocation, gate, decided));
        if (method.asynchrony() == Asynchrony.STAGE) {
            return call.stage();
        }
        call.response(SuspendedResponse.of(invocation));
        return null;
    }

    private static @Nullable Object proceed(InvocationContext invocation, RateLimitGate gate, Entry entry)
            throws Exception {
        Decision unused = entry.decision().orThrow();
        return entry.settlesOnReturn() ? settle(invocation, gate, entry) : invocation.proceed();
    }

    /** Calls the method, and leaves the gate with its outcome. */
    private static Object settle(InvocationContext invocation, RateLimitGate gate, Entry entry) throws Exception {
        boolean succeeded = false;
        boolean later = false;
        try {
            Object result = invocation.proceed();
            succeeded = true;
            if (result instanceof CompletionStage<?> stage) {
                CompletionStage<?> left = stage.whenComplete((value, failure) -> gate.leave(entry, failure == null));
                later = true;
                return left;
            }
            return result;
        } finally {
            if (!later) {
                gate.leave(entry, succeeded);
            }
        }
    }
}
