// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.quarkus.runtime.BlockingOperationNotAllowedException;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.interceptor.cdi.DeployedApplication;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import io.weir.ratelimit.interceptor.cdi.RateLimitInterceptor;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.LaterEntry;
import io.weir.ratelimit.runtime.RateLimitGate;
import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of bean methods. A method that returns a {@code Uni} or a {@code Multi} is decided when it is subscribed, and each
 * subscription is a call.
 */
@Interceptor
@RateLimit
@Priority(Interceptor.Priority.PLATFORM_BEFORE + 1)
public class BeanInterceptor {
    private final RateLimitExtension deployment;
    private final RateLimitInterceptor blocking;

    /** Creates the interceptor of a bean. */
    @Inject
    public BeanInterceptor(RateLimitExtension deployment) {
        this.deployment = deployment;
        this.blocking = new RateLimitInterceptor(deployment);
    }

    /**
     * Calls the method if its policies allow the call.
     *
     * @return the result of the method, failed if the call is rejected and the result is asynchronous
     * @throws Exception the exception of the method, or of a rejection
     */
    @AroundInvoke
    public @Nullable Object limit(InvocationContext invocation) throws Exception {
        Class<?> result = invocation.getMethod().getReturnType();
        if (result == Uni.class) {
            return Uni.createFrom()
                    .deferred(() -> enter(invocation)
                            .onItem()
                            .transformToUni(entry -> uni(entry, () -> (Uni<?>) invocation.proceed())));
        }
        if (result == Multi.class) {
            return Multi.createFrom()
                    .deferred(() -> enter(invocation).onItem().transformToMulti(entry -> multi(invocation, entry)));
        }
        if (!EventLoop.isCurrent()) {
            return blocking.limit(invocation);
        }
        return Binding.Asynchrony.isStage(result) ? stage(invocation) : value(invocation);
    }

    private RateLimitGate gate() {
        return deployment.application().gate();
    }

    private LaterEntry enterAsync(InvocationContext invocation) {
        DeployedApplication application = deployment.application();
        return application
                .gate()
                .enterAsync(application.method(invocation), invocation::getParameters, CallThreads.ofCall());
    }

    /**
     * Enters the gate. The result continues on the event loop of the subscriber. A subscriber that may block waits on its own thread,
     * because its method may need such a thread, and another one may not be free while it awaits the result.
     */
    private Uni<Entry> enter(InvocationContext invocation) {
        if (!EventLoop.isCurrent()) {
            DeployedApplication application = deployment.application();
            return Uni.createFrom()
                    .item(application.gate().enter(application.method(invocation), invocation::getParameters));
        }
        LaterEntry later = enterAsync(invocation);
        if (later.isDecided()) {
            return Uni.createFrom().item(later.entry());
        }
        return Uni.createFrom()
                .completionStage(later.decision())
                .emitOn(EventLoop.current())
                .onCancellation()
                .invoke(() -> abandon(later))
                .map(unused -> later.entry());
    }

    /** Ends a call whose subscriber has left. A decision that was made meanwhile can hold slots. */
    private void abandon(LaterEntry later) {
        if (!later.decision().cancel(false) && !later.decision().isCompletedExceptionally()) {
            Entry entry = later.entry();
            if (entry.settlesOnReturn()) {
                leave(entry, false);
            }
        }
    }

    private Uni<?> uni(Entry entry, Callable<Uni<?>> method) {
        try {
            Decision unused = entry.decision().orThrow();
            Uni<?> result = method.call();
            return entry.settlesOnReturn()
                    ? result.onTermination()
                            .invoke((item, failure, canceled) -> leave(entry, failure == null && !canceled))
                    : result;
        } catch (Throwable e) { // of an Error as well, Mutiny makes a failure
            return Uni.createFrom().failure(failed(entry, e));
        }
    }

    private Multi<?> multi(InvocationContext invocation, Entry entry) {
        try {
            Decision unused = entry.decision().orThrow();
            Multi<?> result = (Multi<?>) invocation.proceed();
            return entry.settlesOnReturn()
                    ? result.onTermination().invoke((failure, canceled) -> leave(entry, failure == null && !canceled))
                    : result;
        } catch (Throwable e) {
            return Multi.createFrom().failure(failed(entry, e));
        }
    }

    private CompletionStage<?> stage(InvocationContext invocation) {
        return enter(invocation)
                .onItem()
                .transformToUni(entry ->
                        uni(entry, () -> Uni.createFrom().completionStage((CompletionStage<?>) invocation.proceed())))
                .subscribeAsCompletionStage();
    }

    /** Calls a method whose result no thread can deliver later. Its filter has decided, or nothing delays the decision. */
    private @Nullable Object value(InvocationContext invocation) throws Exception {
        LaterEntry later = enterAsync(invocation);
        if (!later.isDecided() && later.decision().cancel(false)) { // false if it was decided meanwhile
            throw new BlockingOperationNotAllowedException(DeployedApplication.wouldBlock(invocation));
        }
        Entry entry = later.entry();
        Decision unused = entry.decision().orThrow();
        boolean succeeded = false;
        try {
            Object result = invocation.proceed();
            succeeded = true;
            return result;
        } finally {
            if (entry.settlesOnReturn()) {
                leave(entry, succeeded);
            }
        }
    }

    private Throwable failed(Entry entry, Throwable failure) {
        if (entry.settlesOnReturn()) {
            leave(entry, false);
        }
        return failure;
    }

    private void leave(Entry entry, boolean succeeded) {
        gate().leave(entry, succeeded);
    }
}
