// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.EngineRateLimiter;
import io.weir.ratelimit.interceptor.engine.RateLimitEngine;
import io.weir.ratelimit.interceptor.engine.RequestRecord;
import io.weir.ratelimit.interceptor.engine.StoreHealth;
import io.weir.ratelimit.interceptor.key.ClientAddress;
import io.weir.ratelimit.interceptor.observe.SpanMarks;
import io.weir.ratelimit.interceptor.operate.Operations;
import io.weir.ratelimit.interceptor.policy.Bypass;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.interceptor.policy.RequestPath;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.enterprise.context.ContextNotActiveException;
import jakarta.enterprise.context.RequestScoped;
import jakarta.enterprise.inject.spi.BeanManager;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What a deployment has made of its configuration and annotations, for the entry points. */
public final class RateLimitRuntime {
    private final RateLimitEngine engine;
    private final StoreHealth health;
    private final RateLimiter limiter;
    private final List<String> headers;
    private final SpanMarks spans;
    private final ClientAddress clients;
    private final Optional<RejectionResponder> responder;
    private final BeanManager beans;
    private final CurrentRequest request;
    private final ServletRequests servlets;
    private final Supplier<Executor> executor;
    private final Operations operations;
    private final AtomicReference<Rulebook> rulebook;
    private volatile @Nullable ReloadTimer reloads;

    RateLimitRuntime(
            RateLimitEngine engine,
            StoreHealth health,
            Supplier<Executor> executor,
            AtomicReference<Rulebook> rulebook,
            Operations operations,
            List<String> headers,
            SpanMarks spans,
            ClientAddress clients,
            Optional<RejectionResponder> responder,
            BeanManager beans) {
        this.engine = engine;
        this.health = health;
        this.limiter = new EngineRateLimiter(
                engine, () -> rulebook().policies(), executor, () -> current().map(RequestRecord::call));
        this.executor = executor;
        this.rulebook = rulebook;
        this.operations = operations;
        this.headers = List.copyOf(headers);
        this.spans = spans;
        this.clients = clients;
        this.responder = responder;
        this.beans = beans;
        this.servlets = new ServletRequests(beans);
        this.request = beans.createInstance().select(CurrentRequest.class).get();
    }

    private Rulebook rulebook() {
        return Objects.requireNonNull(rulebook.get());
    }

    void reloadBy(ReloadTimer timer) {
        reloads = timer;
    }

    /** The application has started, with this class loader; the thread is one of its own. */
    void started(ClassLoader application) {
        ReloadTimer timer = reloads;
        if (timer != null) {
            timer.start(executor.get(), application);
        }
    }

    void stopped() {
        ReloadTimer timer = reloads;
        if (timer != null) {
            timer.stop();
        }
    }

    /**
     * What decides.
     *
     * @return the engine
     */
    public RateLimitEngine engine() {
        return engine;
    }

    /**
     * How the store is.
     *
     * @return the health
     */
    public StoreHealth health() {
        return health;
    }

    /**
     * The limiter for code.
     *
     * @return the limiter
     */
    public RateLimiter limiter() {
        return limiter;
    }

    /**
     * What an operator can see and do.
     *
     * @return the operations
     */
    public Operations operations() {
        return operations;
    }

    /**
     * The names of the header dialects that answers carry.
     *
     * @return the names in order
     */
    public List<String> headers() {
        return headers;
    }

    /**
     * A policy at the moment.
     *
     * @param name its name
     * @return empty if there is none of that name
     */
    public Optional<Policy> policy(String name) {
        return Optional.ofNullable(rulebook().policies().get(name));
    }

    /**
     * What writes the application's own bodies of refusals.
     *
     * @return empty if there is none
     */
    public Optional<RejectionResponder> responder() {
        return responder;
    }

    /**
     * Marks spans that begin after the decision.
     *
     * @return the marks
     */
    public SpanMarks spans() {
        return spans;
    }

    /**
     * The policies that hold for a method.
     *
     * @param beanClass the class of the resource or bean, not of a proxy
     * @param method the method
     * @return the policies, {@link Binding#NONE} if it is not limited
     */
    public Binding binding(Class<?> beanClass, Method method) {
        return bound(beanClass, method).binding();
    }

    Bindings.Bound bound(Class<?> beanClass, Method method) {
        return rulebook().bindings().of(beanClass, method);
    }

    /**
     * The policies that hold for a request: those of its method and those that apply by path.
     *
     * @param own the policies of the method
     * @param method the HTTP method
     * @param path the path below the context root
     * @return the policies
     */
    public Binding joined(Binding own, String method, Supplier<RequestPath> path) {
        return rulebook().paths().join(own, method, path);
    }

    /**
     * The policies that hold for a request before it is matched to a method.
     *
     * @param method the HTTP method
     * @param path the path below the context root
     * @return the policies, {@link Binding#NONE} if there is none
     */
    public Binding early(String method, Supplier<RequestPath> path) {
        return rulebook().early().join(Binding.NONE, method, path);
    }

    /**
     * Whether a request is let past all limits; the listeners hear of it.
     *
     * @param request the record
     * @param binding the policies that would decide at the entry point at hand
     * @return true if nothing is to be decided
     */
    public boolean bypasses(RequestRecord request, Binding binding) {
        Bypass bypass = rulebook().bypass();
        if (bypass.isEmpty()
                || !request.isExempt(
                        call -> bypass.lets(call, () -> clients.of(call.peerAddress(), call::headerLines)))) {
            return false;
        }
        if (!binding.policies().isEmpty() && request.isFirstAt(binding)) {
            engine.bypassed(binding);
        }
        return true;
    }

    /**
     * Settles a decision about a request when the outcome of the request is known, if that decides about its charges.
     *
     * @param binding the policies of the request
     * @param decision what was decided
     * @param request the record
     */
    public void settleLater(Binding binding, Decision decision, RequestRecord request) {
        if (binding.countsOutcomes() && decision.allowed()) {
            request.settleLater(succeeded -> engine.settle(binding, decision, succeeded));
        }
    }

    /**
     * The record of the request at hand, which starts with the first entry point that the request meets.
     *
     * @param caller who makes the request, as the entry point at hand knows it
     * @return the record
     */
    public RequestRecord start(CallContext caller) {
        if (!requestIsActive()) {
            return new RequestRecord(caller);
        }
        Optional<RequestRecord> started = request.record();
        if (started.isPresent()) {
            started.get().calledBy(caller);
            return started.get();
        }
        RequestRecord first = new RequestRecord(caller);
        request.start(first);
        return first;
    }

    /**
     * The record of the HTTP request at hand.
     *
     * @return empty where there is none, as on the threads of timers
     */
    public Optional<RequestRecord> current() {
        if (!requestIsActive()) {
            return Optional.empty();
        }
        Optional<RequestRecord> started = request.record();
        return started.isPresent() ? started : servlets.caller().map(this::start);
    }

    private boolean requestIsActive() {
        try {
            return beans.getContext(RequestScoped.class).isActive();
        } catch (ContextNotActiveException e) {
            return false;
        }
    }
}
