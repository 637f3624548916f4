// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.servlet.ServletRequests;
import io.weir.ratelimit.interceptor.user.UserCall;
import io.weir.ratelimit.runtime.RateLimitGate;
import io.weir.ratelimit.runtime.Requests;
import io.weir.ratelimit.spi.CallContext;
import jakarta.enterprise.context.ContextNotActiveException;
import jakarta.enterprise.context.RequestScoped;
import jakarta.enterprise.context.control.RequestContextController;
import jakarta.enterprise.context.spi.Context;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The states of requests in the CDI request scope. It reads the scope directly, because a client proxy looks it up on each call. */
final class RequestStates implements Requests {
    private final BeanManager beans;
    private final Bean<CurrentRequest> bean;
    private final @Nullable ServletRequests servlets;

    @SuppressWarnings("unchecked") // the bean of a class has the type of the class
    RequestStates(BeanManager beans) {
        this.beans = beans;
        this.bean = (Bean<CurrentRequest>) beans.resolve(beans.getBeans(CurrentRequest.class));
        this.servlets = OptionalApi.SERVLET.isVisible() ? new ServletRequests(beans) : null;
    }

    @Override
    public RequestState start(CallContext caller, RateLimitGate gate) {
        CurrentRequest current = currentRequest();
        if (current == null) {
            return new RequestState(caller);
        }
        RequestState started = current.state();
        if (started == null) {
            RequestState first = new RequestState(caller);
            current.start(first, gate);
            return first;
        }
        started.caller(caller);
        return started;
    }

    @Override
    public @Nullable RequestState current(RateLimitGate gate) {
        CurrentRequest current = currentRequest();
        if (current == null) {
            return null;
        }
        RequestState started = current.state();
        return started != null || servlets == null
                ? started
                : servlets.caller().map(caller -> start(caller, gate)).orElse(null);
    }

    @Override
    public CallContext withoutRequest(@Nullable Object @Nullable [] arguments) {
        return new CallWithoutRequest(beans, arguments);
    }

    @Override
    public boolean hold(RequestState request, Runnable releaser) {
        return (!(request.caller() instanceof UserCall call) || call.reportsEnd(request))
                && request.holdSlots(releaser);
    }

    /**
     * Calls a task in a request scope. If none is active, a new one has the state of the request, if there is one, so that the task belongs
     * to the request.
     */
    <T extends @Nullable Object> T call(@Nullable RequestState request, Callable<T> task) throws Exception {
        Instance<RequestContextController> scope = beans.createInstance().select(RequestContextController.class);
        RequestContextController controller = scope.get();
        boolean activated = controller.activate();
        try {
            CurrentRequest current = activated ? currentRequest() : null;
            if (current != null && request != null) {
                current.join(request);
            }
            return task.call();
        } finally {
            if (activated) {
                controller.deactivate();
            }
            scope.destroy(controller);
        }
    }

    /** Returns the holder of the request scope, null if no request scope is active, as on the threads of timers. */
    private @Nullable CurrentRequest currentRequest() {
        try {
            Context scope = beans.getContext(RequestScoped.class);
            CurrentRequest existing = scope.get(bean);
            return existing != null ? existing : scope.get(bean, beans.createCreationalContext(bean));
        } catch (ContextNotActiveException e) {
            return null;
        }
    }
}
