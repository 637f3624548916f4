// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The way in which a method delivers its result after it has returned. */
public enum Asynchrony {
    /** The result is delivered when the method returns, or in a way that no other code can take over. */
    NONE,
    /** The method returns a stage. */
    STAGE,
    /** The method of a resource resumes its parameter of the type {@code AsyncResponse}. */
    RESPONSE;

    /** The name of the type, because a server can have no Jakarta REST. */
    private static final String ASYNC_RESPONSE = "jakarta.ws.rs.container.AsyncResponse";

    public static Asynchrony of(Method method) {
        if (isStage(method.getReturnType())) {
            return STAGE;
        }
        boolean resumes = method.getReturnType() == void.class && position(method.getParameterTypes()) >= 0;
        return resumes ? RESPONSE : NONE;
    }

    /** Tests whether a failed stage can be the result of a method. A subclass of {@link CompletableFuture} has no such object. */
    public static boolean isStage(Class<?> result) {
        return CompletionStage.class.isAssignableFrom(result) && result.isAssignableFrom(CompletableFuture.class);
    }

    /** Returns the position of the parameter with the response, -1 if there is none. */
    public static int position(Class<?>... parameters) {
        return Arrays.stream(parameters).map(Class::getName).toList().indexOf(ASYNC_RESPONSE);
    }
}
