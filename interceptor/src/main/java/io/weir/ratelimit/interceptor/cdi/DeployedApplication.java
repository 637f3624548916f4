// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.message.Message;
import io.weir.ratelimit.core.operations.Operations;
import io.weir.ratelimit.core.outgoing.OutgoingCalls;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.RequestPath;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.interceptor.telemetry.SpanDecorator;
import io.weir.ratelimit.spi.RejectionResponder;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The parts that a deployment creates from configuration, annotations and beans, beside the request path, which is the {@linkplain
 * #gate() gate}.
 */
public final class DeployedApplication {
    private final RateLimitGate gate;
    private final MethodNames names;
    private final Runnable endWaits;
    private final BackendHealth health;
    private final RateLimiter limiter;
    private final OutgoingCalls outgoing;
    private final CallerQuotas quotas;
    private final Operations operations;
    private final List<String> headers;
    private final Optional<RejectionResponder> responder;
    private final SpanDecorator spans;
    private final Supplier<PolicySnapshot> policies;
    private final Supplier<Executor> executor;
    private final LookupThreads lookups;
    private final List<TaskTimer> timers;
    private final ResourceCheck resources;
    private final Function<ApplicationView, List<Message>> warnings;

    DeployedApplication(
            RateLimitGate gate,
            MethodNames names,
            Runnable endWaits,
            BackendHealth health,
            RateLimiter limiter,
            OutgoingCalls outgoing,
            CallerQuotas quotas,
            Operations operations,
            List<String> headers,
            Optional<RejectionResponder> responder,
            SpanDecorator spans,
            Supplier<PolicySnapshot> policies,
            Supplier<Executor> executor,
            LookupThreads lookups,
            List<TaskTimer> timers,
            ResourceCheck resources,
            Function<ApplicationView, List<Message>> warnings) {
        this.gate = gate;
        this.names = names;
        this.endWaits = endWaits;
        this.health = health;
        this.limiter = limiter;
        this.outgoing = outgoing;
        this.quotas = quotas;
        this.operations = operations;
        this.headers = List.copyOf(headers);
        this.responder = responder;
        this.spans = spans;
        this.policies = policies;
        this.executor = executor;
        this.lookups = lookups;
        this.timers = List.copyOf(timers);
        this.resources = resources;
        this.warnings = warnings;
    }

    /** Starts the repeated tasks. The calling thread and the class loader are the application's. */
    void start(ClassLoader application) {
        timers.forEach(timer -> timer.start(executor.get(), application));
    }

    /** Cancels the calls that wait without a thread. */
    void endWaits() {
        endWaits.run();
    }

    void stop() {
        endWaits();
        timers.forEach(TaskTimer::stop);
        lookups.stop();
    }

    ResourceCheck resources() {
        return resources;
    }

    /** Returns the warnings about policies that do not fit the started application. */
    List<Message> warnings(ApplicationView view) {
        return warnings.apply(view);
    }

    /**
     * Returns the gate that decides about requests and bean calls.
     *
     * @return the gate
     */
    public RateLimitGate gate() {
        return gate;
    }

    /**
     * Returns the names of methods.
     *
     * @return the names
     */
    public MethodNames names() {
        return names;
    }

    /**
     * Returns the health of the backend.
     *
     * @return the health
     */
    public BackendHealth health() {
        return health;
    }

    /**
     * Returns the limiter for application code.
     *
     * @return the limiter
     */
    public RateLimiter limiter() {
        return limiter;
    }

    /**
     * Returns the path of the calls of REST clients.
     *
     * @return the outgoing calls
     */
    public OutgoingCalls outgoing() {
        return outgoing;
    }

    /**
     * Returns the quotas of callers, for the quota resource.
     *
     * @return the quotas
     */
    public CallerQuotas quotas() {
        return quotas;
    }

    /**
     * Returns the operations for operators.
     *
     * @return the operations
     */
    public Operations operations() {
        return operations;
    }

    /**
     * Returns the names of the header dialects of responses.
     *
     * @return the names in configured order
     */
    public List<String> headers() {
        return headers;
    }

    /**
     * Returns the application's bean that writes the bodies of rejections.
     *
     * @return the bean, empty if the application has none
     */
    public Optional<RejectionResponder> responder() {
        return responder;
    }

    /**
     * Returns the decorator for spans that start after the decision.
     *
     * @return the decorator
     */
    public SpanDecorator spans() {
        return spans;
    }

    /**
     * Returns whether the application has limits.
     *
     * @return false if there is no policy
     */
    public boolean hasPolicies() {
        return !policies.get().policies().isEmpty();
    }

    /**
     * Returns the current version of a policy.
     *
     * @param name the name of the policy
     * @return the policy, empty if no policy has the name
     */
    public Optional<Policy> policy(String name) {
        return Optional.ofNullable(policies.get().policies().get(name));
    }

    /**
     * Returns the policies that annotations bind to a method.
     *
     * @param beanClass the class of the resource or bean, not of its proxy
     * @param method the method
     * @return the policies, {@link Binding#NONE} if the method is not limited
     */
    public Binding binding(Class<?> beanClass, Method method) {
        return policies.get().bindings().of(beanClass, method).binding();
    }

    /**
     * Returns all policies of a request, early ones first.
     *
     * @param method the policies of the resource method
     * @param httpMethod the HTTP method
     * @param path the path below the context root
     * @return the policies with their costs
     */
    public List<Binding.PolicyCost> policies(Binding method, String httpMethod, RequestPath path) {
        PolicySnapshot current = policies.get();
        List<Binding.PolicyCost> all = new ArrayList<>(
                current.early().join(Binding.NONE, httpMethod, () -> path).policies());
        all.addAll(current.paths().join(method, httpMethod, () -> path).policies());
        return all;
    }
}
