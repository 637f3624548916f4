// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.RequestRecord;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.io.Serial;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Decides about calls of bean methods. Outside transactions, fault tolerance and validation: a refusal opens no transaction, and
 * a retried method is charged once.
 */
@Interceptor
@RateLimit
@Priority(Interceptor.Priority.PLATFORM_BEFORE + 100)
public class RateLimitInterceptor implements Serializable {
    @Serial
    private static final long serialVersionUID = 1;

    private final RateLimitExtension deployment;

    /**
     * An interceptor of a bean.
     *
     * @param deployment knows what was deployed
     */
    @Inject
    public RateLimitInterceptor(RateLimitExtension deployment) {
        this.deployment = deployment;
    }

    /**
     * Decides, and calls the method if it may go on.
     *
     * @param invocation the call
     * @return what the method returns
     * @throws Exception what the method throws
     */
    @AroundInvoke
    public Object limit(InvocationContext invocation) throws Exception {
        RateLimitRuntime runtime = deployment.runtime();
        Bindings.Bound bound = runtime.bound(deployment.beanClass(invocation), invocation.getMethod());
        if (bound.binding().policies().isEmpty()) {
            return invocation.proceed();
        }
        Optional<RequestRecord> request = runtime.current();
        Binding binding = request.map(record -> record.here(bound.binding())).orElse(bound.binding());
        if (request.isPresent() && runtime.bypasses(request.get(), binding)) {
            return invocation.proceed();
        }
        boolean answersRequest =
                request.flatMap(RequestRecord::pending).filter(binding::equals).isPresent();
        Decision decision = decide(runtime, bound, binding, request, invocation);
        check(decision);
        if (answersRequest) {
            runtime.settleLater(binding, decision, request.get());
        }
        return answersRequest || !binding.countsOutcomes()
                ? invocation.proceed()
                : settled(
                        succeeded -> {
                            List<Charge> back = runtime.engine().settle(binding, decision, succeeded);
                            request.ifPresent(record -> record.givenBack(back));
                        },
                        invocation);
    }

    /** Calls a bean whose outcome decides about its charges. */
    private static Object settled(Consumer<Boolean> settling, InvocationContext invocation) throws Exception {
        boolean succeeded = false;
        boolean later = false;
        try {
            Object result = invocation.proceed();
            succeeded = true;
            if (result instanceof CompletionStage<?> stage) {
                later = true;
                return stage.whenComplete((value, failure) -> settling.accept(failure == null));
            }
            return result;
        } finally {
            if (!later) {
                settling.accept(succeeded);
            }
        }
    }

    private static Decision decide(
            RateLimitRuntime runtime,
            Bindings.Bound bound,
            Binding binding,
            Optional<RequestRecord> request,
            InvocationContext invocation) {
        CallContext caller = request.map(RequestRecord::call).orElse(CallContext.NONE);
        // Payara has null where an enterprise bean's method takes none.
        List<Object> arguments = binding.needsArguments() ? Arrays.asList(invocation.getParameters()) : List.of();
        CallContext call = new InvocationCall(caller, binding.endpoint(), bound.arguments(), arguments);
        return request.isPresent()
                ? runtime.engine().decide(binding, call, request.get())
                : runtime.engine().decide(binding, call);
    }

    private static void check(Decision decision) {
        if (decision instanceof Decision.Rejected rejected) {
            throw new RateLimitExceededException(rejected);
        }
        if (decision instanceof Decision.Degraded degraded && !degraded.allowed()) {
            throw new RateLimitUnavailableException(degraded.reason(), degraded.retryAfter());
        }
    }
}
