// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.runtime.LaterEntry;
import jakarta.interceptor.InvocationContext;
import jakarta.ws.rs.container.AsyncResponse;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A call of an asynchronous method that runs after its wait, on a thread of the container's executor with the context of the caller. The
 * thread of the caller returns at once.
 */
record LaterCall(LaterEntry entry, RequestStates states, Rest rest) {
    /** The rest of a call after its decision. */
    @FunctionalInterface
    interface Rest {
        /** Returns the result of the method, or throws its exception or that of a rejection. */
        @Nullable
        Object run(Entry entry) throws Exception;
    }

    /** Starts a call of a method that returns a stage. If the returned stage ends during the wait, the method does not run. */
    CompletionStage<Object> stage() {
        CompletableFuture<Object> result = new CompletableFuture<>();
        start(
                value -> {
                    if (value instanceof CompletionStage<?> work) {
                        LaterResult.follow(work, result);
                    } else {
                        result.complete(value);
                    }
                },
                result::completeExceptionally);
        CompletionStage<Object> ended = result;
        ended.whenComplete((value, failure) -> entry.decision().cancel(false));
        return result;
    }

    /** Starts a call of a method that resumes a response. A failure resumes the response instead of the method. */
    void response(SuspendedResponse response) {
        start(value -> {}, response::fail);
    }

    private void start(Consumer<@Nullable Object> success, Consumer<Throwable> failed) {
        CompletionStage<Decision> decided = entry.decision();
        decided.whenComplete((decision, failure) -> {
            if (failure != null) {
                failed.accept(failure);
                return;
            }
            try {
                success.accept(states.call(entry.request(), () -> rest.run(entry.entry())));
            } catch (Throwable e) { // nobody else receives it, and the caller would wait forever
                failed.accept(e);
            }
        });
    }

    /** The suspended response of a resource method. The class is loaded only for methods with such a parameter. */
    record SuspendedResponse(AsyncResponse response) {
        static SuspendedResponse of(InvocationContext invocation) {
            int position = Binding.Asynchrony.position(invocation.getMethod().getParameterTypes());
            return new SuspendedResponse((AsyncResponse) invocation.getParameters()[position]);
        }

        /** Resumes the response with an exception, for its mapper, or with 503 if the wait was canceled. No effect on a resumed response. */
        void fail(Throwable failure) {
            if (failure instanceof CancellationException) {
                response.cancel();
            } else {
                response.resume(failure);
            }
        }
    }
}
