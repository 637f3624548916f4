// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.LaterEntry;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.AroundTimeout;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.io.Serial;
import java.io.Serializable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of bean methods. It surrounds the interceptors for transactions, fault tolerance and validation: a rejection opens
 * no transaction, and a retried method is charged once. It also surrounds those that change the thread, the first of which has the
 * priority 5: the thread of the caller has the request.
 */
@Interceptor
@RateLimit
@Priority(Interceptor.Priority.PLATFORM_BEFORE + 1)
public class RateLimitInterceptor implements Serializable {
    @Serial
    private static final long serialVersionUID = 1;

    private final RateLimitExtension deployment;

    @Inject
    public RateLimitInterceptor(RateLimitExtension deployment) {
        this.deployment = deployment;
    }

    /** Calls the method if its policies allow the call. A rejection is a failed stage if the method returns a stage, else an exception. */
    @AroundInvoke
    public @Nullable Object limit(InvocationContext invocation) throws Exception {
        return Binding.Asynchrony.isStage(invocation.getMethod().getReturnType())
                ? stage(invocation)
                : other(invocation);
    }

    /** Calls a timeout method of an enterprise bean, whose timer the server does not report as a call. */
    @AroundTimeout
    public @Nullable Object limitTimer(InvocationContext invocation) throws Exception {
        return limit(invocation);
    }

    private @Nullable Object other(InvocationContext invocation) throws Exception {
        // The extension is a proxy, which takes a part of the time of a decision in process.
        DeployedApplication application = deployment.application();
        RateLimitGate gate = application.gate();
        Binding.OfMethod method = application.method(invocation);
        if (method.asynchrony() == Binding.Asynchrony.NONE) {
            return proceed(invocation, gate, gate.enter(method, invocation::getParameters));
        }
        LaterEntry entry = gate.enterLater(method, invocation::getParameters);
        if (entry.isDecided()) {
            return proceed(invocation, gate, entry.entry());
        }
        new LaterCall(entry, application.states(), decided -> proceed(invocation, gate, decided))
                .response(LaterCall.SuspendedResponse.of(invocation));
        return null;
    }

    /** Calls a method that returns a stage. Only the method itself can throw. */
    private @Nullable Object stage(InvocationContext invocation) throws Exception {
        RateLimitGate gate;
        Entry entry;
        try {
            DeployedApplication application = deployment.application();
            gate = application.gate();
            Binding.OfMethod method = application.method(invocation);
            LaterEntry later = method.asynchrony() == Binding.Asynchrony.NONE
                    ? LaterEntry.decided(gate.enter(method, invocation::getParameters))
                    : gate.enterLater(method, invocation::getParameters);
            if (!later.isDecided()) {
                RateLimitGate entered = gate;
                return new LaterCall(later, application.states(), decided -> proceed(invocation, entered, decided))
                        .stage();
            }
            entry = later.entry();
            Decision unused = entry.decision().orThrow();
        } catch (RuntimeException e) {
            CompletionStage<Object> rejected = CompletableFuture.failedFuture(e);
            return rejected;
        }
        return run(invocation, gate, entry);
    }

    private static @Nullable Object proceed(InvocationContext invocation, RateLimitGate gate, Entry entry)
            throws Exception {
        Decision unused = entry.decision().orThrow();
        return run(invocation, gate, entry);
    }

    private static @Nullable Object run(InvocationContext invocation, RateLimitGate gate, Entry entry)
            throws Exception {
        return entry.settlesOnReturn() ? settle(invocation, gate, entry) : invocation.proceed();
    }

    /** Calls the method, and leaves the gate with its outcome. */
    private static Object settle(InvocationContext invocation, RateLimitGate gate, Entry entry) throws Exception {
        boolean succeeded = false;
        boolean later = false;
        try {
            Object result = invocation.proceed();
            succeeded = true;
            if (result instanceof CompletionStage<?> work) {
                Class<?> type = invocation.getMethod().getReturnType();
                CompletionStage<?> stage = LaterResult.of(work, type, ended -> gate.leave(entry, ended));
                later = true;
                return stage;
            }
            return result;
        } finally {
            if (!later) {
                gate.leave(entry, succeeded);
            }
        }
    }
}
